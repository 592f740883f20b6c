-- What feeds need to know of events: how often their time changed, and what was withdrawn. The default is what the version
-- before means. The index has events in the order of their changes.
-- A column is added and not the table made anew: that would copy all rows.

-- add column "sequence" to table: "events"
ALTER TABLE `events` ADD COLUMN `sequence` integer NOT NULL DEFAULT (0);
-- create index "event_status_hide_from_listings_modified_at_id_ends_at" to table: "events"
CREATE INDEX `event_status_hide_from_listings_modified_at_id_ends_at` ON `events` (`status`, `hide_from_listings`, `modified_at`, `id`, `ends_at`);
-- create "withdrawals" table
CREATE TABLE `withdrawals` (`id` integer NOT NULL, `at` datetime NOT NULL, `listed` bool NOT NULL, `starts_at` datetime NOT NULL, `ends_at` datetime NOT NULL, `start_wall` datetime NOT NULL, `end_wall` datetime NOT NULL, `timezone` text NOT NULL, `all_day` bool NOT NULL, PRIMARY KEY (`id`));
-- create index "withdrawal_starts_at_id" to table: "withdrawals"
CREATE INDEX `withdrawal_starts_at_id` ON `withdrawals` (`starts_at`, `id`);
-- create index "withdrawal_at" to table: "withdrawals"
CREATE INDEX `withdrawal_at` ON `withdrawals` (`at`);
-- create "withdrawal_keys" table
CREATE TABLE `withdrawal_keys` (`id` integer NOT NULL PRIMARY KEY AUTOINCREMENT, `kind` text NOT NULL, `value` text NOT NULL, `withdrawal_id` integer NOT NULL, CONSTRAINT `withdrawal_keys_withdrawals_keys` FOREIGN KEY (`withdrawal_id`) REFERENCES `withdrawals` (`id`) ON DELETE CASCADE);
-- create index "withdrawalkey_withdrawal_id_kind_value" to table: "withdrawal_keys"
CREATE UNIQUE INDEX `withdrawalkey_withdrawal_id_kind_value` ON `withdrawal_keys` (`withdrawal_id`, `kind`, `value`);
-- create index "withdrawalkey_kind_value" to table: "withdrawal_keys"
CREATE INDEX `withdrawalkey_kind_value` ON `withdrawal_keys` (`kind`, `value`);
