-- Which changes the public could not see. The defaults are what the version before means: it could see all.
-- Columns are added and not the tables made anew: that would copy all rows.

-- add column "hidden" to table: "changes"
ALTER TABLE `changes` ADD COLUMN `hidden` bool NOT NULL DEFAULT (false);
-- create index "change_hidden_id" to table: "changes"
CREATE INDEX `change_hidden_id` ON `changes` (`hidden`, `id`);
-- add column "hidden_at" to table: "events"
ALTER TABLE `events` ADD COLUMN `hidden_at` datetime NULL;
-- add column "hidden_changes" to table: "events"
ALTER TABLE `events` ADD COLUMN `hidden_changes` integer NOT NULL DEFAULT (0);
-- add column "hidden_at" to table: "organizers"
ALTER TABLE `organizers` ADD COLUMN `hidden_at` datetime NULL;
-- add column "hidden_changes" to table: "organizers"
ALTER TABLE `organizers` ADD COLUMN `hidden_changes` integer NOT NULL DEFAULT (0);
-- add column "hidden_at" to table: "series"
ALTER TABLE `series` ADD COLUMN `hidden_at` datetime NULL;
-- add column "hidden_changes" to table: "series"
ALTER TABLE `series` ADD COLUMN `hidden_changes` integer NOT NULL DEFAULT (0);
-- add column "hidden_at" to table: "terms"
ALTER TABLE `terms` ADD COLUMN `hidden_at` datetime NULL;
-- add column "hidden_changes" to table: "terms"
ALTER TABLE `terms` ADD COLUMN `hidden_changes` integer NOT NULL DEFAULT (0);
-- add column "hidden_at" to table: "venues"
ALTER TABLE `venues` ADD COLUMN `hidden_at` datetime NULL;
-- add column "hidden_changes" to table: "venues"
ALTER TABLE `venues` ADD COLUMN `hidden_changes` integer NOT NULL DEFAULT (0);
