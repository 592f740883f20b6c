-- What terms are sorted by, computed by the program. Null until it has done so. Columns are added and not the table
-- made anew: that would copy all rows.

-- add column "sort_en" to table: "terms"
ALTER TABLE `terms` ADD COLUMN `sort_en` blob NULL;
-- add column "sort_pl" to table: "terms"
ALTER TABLE `terms` ADD COLUMN `sort_pl` blob NULL;
-- add column "sort_es" to table: "terms"
ALTER TABLE `terms` ADD COLUMN `sort_es` blob NULL;
-- add column "description_sort_en" to table: "terms"
ALTER TABLE `terms` ADD COLUMN `description_sort_en` blob NULL;
-- add column "description_sort_pl" to table: "terms"
ALTER TABLE `terms` ADD COLUMN `description_sort_pl` blob NULL;
-- add column "description_sort_es" to table: "terms"
ALTER TABLE `terms` ADD COLUMN `description_sort_es` blob NULL;
-- create index "term_taxonomy_sort_en_id" to table: "terms"
CREATE INDEX `term_taxonomy_sort_en_id` ON `terms` (`taxonomy`, `sort_en`, `id`);
-- create index "term_taxonomy_sort_pl_id" to table: "terms"
CREATE INDEX `term_taxonomy_sort_pl_id` ON `terms` (`taxonomy`, `sort_pl`, `id`);
-- create index "term_taxonomy_sort_es_id" to table: "terms"
CREATE INDEX `term_taxonomy_sort_es_id` ON `terms` (`taxonomy`, `sort_es`, `id`);
