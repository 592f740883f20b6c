-- create "origins" table
CREATE TABLE `origins` (`id` integer NOT NULL PRIMARY KEY AUTOINCREMENT, `source_id` text NOT NULL, `kind` text NOT NULL, `record_id` integer NOT NULL, `number` integer NULL, `uid` text NULL, `guid` text NULL);
-- create index "origins_source_id_key" to table: "origins"
CREATE UNIQUE INDEX `origins_source_id_key` ON `origins` (`source_id`);
-- create index "origins_uid_key" to table: "origins"
CREATE UNIQUE INDEX `origins_uid_key` ON `origins` (`uid`);
-- create index "origins_guid_key" to table: "origins"
CREATE UNIQUE INDEX `origins_guid_key` ON `origins` (`guid`);
-- create index "origin_record_id_kind" to table: "origins"
CREATE INDEX `origin_record_id_kind` ON `origins` (`record_id`, `kind`);
-- create index "origin_number" to table: "origins"
CREATE INDEX `origin_number` ON `origins` (`number`);
