-- What terms are sorted by, computed by the program. Null until it has done so; nothing that runs on the version
-- before is kept waiting.

-- add the columns to "terms": no row is written
ALTER TABLE `terms` ADD COLUMN `sort_en` varbinary(512) NULL, ADD COLUMN `sort_pl` varbinary(512) NULL, ADD COLUMN `sort_es` varbinary(512) NULL, ADD COLUMN `description_sort_en` varbinary(255) NULL, ADD COLUMN `description_sort_pl` varbinary(255) NULL, ADD COLUMN `description_sort_es` varbinary(255) NULL, ALGORITHM=INSTANT;
-- create index "term_taxonomy_sort_en_id" to table: "terms"
ALTER TABLE `terms` ADD INDEX `term_taxonomy_sort_en_id` (`taxonomy`, `sort_en`, `id`), ALGORITHM=INPLACE, LOCK=NONE;
-- create index "term_taxonomy_sort_pl_id" to table: "terms"
ALTER TABLE `terms` ADD INDEX `term_taxonomy_sort_pl_id` (`taxonomy`, `sort_pl`, `id`), ALGORITHM=INPLACE, LOCK=NONE;
-- create index "term_taxonomy_sort_es_id" to table: "terms"
ALTER TABLE `terms` ADD INDEX `term_taxonomy_sort_es_id` (`taxonomy`, `sort_es`, `id`), ALGORITHM=INPLACE, LOCK=NONE;
