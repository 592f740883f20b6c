-- Whether an event takes place as planned, and how it is attended. The defaults are what the version before means.

-- add the columns to "events": no row is written
ALTER TABLE `events` ADD COLUMN `event_status` varchar(10) NOT NULL DEFAULT 'scheduled', ADD COLUMN `event_status_reason` varchar(255) NOT NULL DEFAULT '', ADD COLUMN `attendance` varchar(10) NOT NULL DEFAULT 'offline', ADD COLUMN `virtual_url` varchar(2048) NOT NULL DEFAULT '', ALGORITHM=INSTANT;
-- add the column to "event_translations": no row is written
ALTER TABLE `event_translations` ADD COLUMN `event_status_reason` varchar(255) NOT NULL DEFAULT '', ALGORITHM=INSTANT;
