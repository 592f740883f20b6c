-- Which changes the public could not see. The defaults are what the version before means: it could see all.

-- modify "changes" table
ALTER TABLE `changes` ADD COLUMN `hidden` bool NOT NULL DEFAULT 0, ALGORITHM=INSTANT;
-- modify "changes" table
ALTER TABLE `changes` ADD INDEX `change_hidden_id` (`hidden`, `id`), ALGORITHM=INPLACE, LOCK=NONE;
-- modify "events" table
ALTER TABLE `events` ADD COLUMN `hidden_at` datetime NULL, ADD COLUMN `hidden_changes` bigint NOT NULL DEFAULT 0, ALGORITHM=INSTANT;
-- modify "organizers" table
ALTER TABLE `organizers` ADD COLUMN `hidden_at` datetime NULL, ADD COLUMN `hidden_changes` bigint NOT NULL DEFAULT 0, ALGORITHM=INSTANT;
-- modify "series" table
ALTER TABLE `series` ADD COLUMN `hidden_at` datetime NULL, ADD COLUMN `hidden_changes` bigint NOT NULL DEFAULT 0, ALGORITHM=INSTANT;
-- modify "terms" table
ALTER TABLE `terms` ADD COLUMN `hidden_at` datetime NULL, ADD COLUMN `hidden_changes` bigint NOT NULL DEFAULT 0, ALGORITHM=INSTANT;
-- modify "venues" table
ALTER TABLE `venues` ADD COLUMN `hidden_at` datetime NULL, ADD COLUMN `hidden_changes` bigint NOT NULL DEFAULT 0, ALGORITHM=INSTANT;
