-- Whether an event takes place as planned, and how it is attended. The defaults are what the version before means.
-- Columns are added and not the tables made anew: that would copy all rows.

-- add column "event_status" to table: "events"
ALTER TABLE `events` ADD COLUMN `event_status` text NOT NULL DEFAULT ('scheduled');
-- add column "event_status_reason" to table: "events"
ALTER TABLE `events` ADD COLUMN `event_status_reason` text NOT NULL DEFAULT ('');
-- add column "attendance" to table: "events"
ALTER TABLE `events` ADD COLUMN `attendance` text NOT NULL DEFAULT ('offline');
-- add column "virtual_url" to table: "events"
ALTER TABLE `events` ADD COLUMN `virtual_url` text NOT NULL DEFAULT ('');
-- add column "event_status_reason" to table: "event_translations"
ALTER TABLE `event_translations` ADD COLUMN `event_status_reason` text NOT NULL DEFAULT ('');
