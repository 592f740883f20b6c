-- Series, and the events that are their occurrences. The defaults are what the version before means: an event of no
-- series.
-- Columns are added and not the table made anew: that would copy all rows.

-- add column "password_id" to table: "events"
ALTER TABLE `events` ADD COLUMN `password_id` integer NULL;
-- add column "series_id" to table: "events"
ALTER TABLE `events` ADD COLUMN `series_id` integer NULL;
-- add column "original_start" to table: "events"
ALTER TABLE `events` ADD COLUMN `original_start` datetime NULL;
-- add column "own_fields" to table: "events"
ALTER TABLE `events` ADD COLUMN `own_fields` json NULL;
-- add column "off_schedule" to table: "events"
ALTER TABLE `events` ADD COLUMN `off_schedule` bool NOT NULL DEFAULT (false);
-- create index "event_series_id_original_start" to table: "events"
CREATE UNIQUE INDEX `event_series_id_original_start` ON `events` (`series_id`, `original_start`);
-- create "series" table
CREATE TABLE `series` (`id` integer NOT NULL, `language` text NOT NULL, `languages` text NOT NULL, `created_at` datetime NOT NULL, `modified_at` datetime NOT NULL, `version` integer NOT NULL DEFAULT (1), `source_id` text NULL, `status` text NOT NULL, `status_before_trash` text NOT NULL DEFAULT (''), `published_at` datetime NOT NULL, `dated` bool NOT NULL DEFAULT (false), `slug` text NOT NULL DEFAULT (''), `hide_from_listings` bool NOT NULL DEFAULT (false), `protected` bool NOT NULL DEFAULT (false), `generated_until` datetime NULL, `extend_at` datetime NULL, `sort_en` blob NULL, `sort_pl` blob NULL, `sort_es` blob NULL, `author_id` integer NULL, PRIMARY KEY (`id`), CONSTRAINT `series_users_series` FOREIGN KEY (`author_id`) REFERENCES `users` (`id`) ON DELETE SET NULL);
-- create index "series_source_id_key" to table: "series"
CREATE UNIQUE INDEX `series_source_id_key` ON `series` (`source_id`);
-- create index "series_extend_at" to table: "series"
CREATE INDEX `series_extend_at` ON `series` (`extend_at`);
-- create index "series_author_id" to table: "series"
CREATE INDEX `series_author_id` ON `series` (`author_id`);
-- create index "series_status_sort_en_id" to table: "series"
CREATE INDEX `series_status_sort_en_id` ON `series` (`status`, `sort_en`, `id`);
-- create index "series_status_sort_pl_id" to table: "series"
CREATE INDEX `series_status_sort_pl_id` ON `series` (`status`, `sort_pl`, `id`);
-- create index "series_status_sort_es_id" to table: "series"
CREATE INDEX `series_status_sort_es_id` ON `series` (`status`, `sort_es`, `id`);
-- create "series_phases" table
CREATE TABLE `series_phases` (`id` integer NOT NULL PRIMARY KEY AUTOINCREMENT, `position` integer NOT NULL, `start_wall` datetime NOT NULL, `end_wall` datetime NOT NULL, `timezone` text NOT NULL, `all_day` bool NOT NULL DEFAULT (false), `rrule` text NOT NULL DEFAULT (''), `rdate` json NULL, `exdate` json NULL, `template` json NOT NULL, `series_id` integer NOT NULL, CONSTRAINT `series_phases_series_phases` FOREIGN KEY (`series_id`) REFERENCES `series` (`id`) ON DELETE CASCADE);
-- create index "seriesphase_series_id_position" to table: "series_phases"
CREATE UNIQUE INDEX `seriesphase_series_id_position` ON `series_phases` (`series_id`, `position`);
