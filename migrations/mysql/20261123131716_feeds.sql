-- What feeds need to know of events: how often their time changed, and what was withdrawn. The default is what the version
-- before means. The index has events in the order of their changes.

-- modify "events" table
ALTER TABLE `events` ADD COLUMN `sequence` bigint NOT NULL DEFAULT 0, ALGORITHM=INSTANT;
-- modify "events" table
ALTER TABLE `events` ADD INDEX `event_status_hide_from_listings_modified_at_id_ends_at` (`status`, `hide_from_listings`, `modified_at`, `id`, `ends_at`), ALGORITHM=INPLACE, LOCK=NONE;
-- create "withdrawals" table
CREATE TABLE `withdrawals` (`id` bigint NOT NULL, `at` datetime NOT NULL, `listed` bool NOT NULL, `starts_at` datetime NOT NULL, `ends_at` datetime NOT NULL, `start_wall` datetime NOT NULL, `end_wall` datetime NOT NULL, `timezone` varchar(64) NOT NULL, `all_day` bool NOT NULL, PRIMARY KEY (`id`), INDEX `withdrawal_at` (`at`), INDEX `withdrawal_starts_at_id` (`starts_at`, `id`)) CHARSET utf8mb4 COLLATE utf8mb4_bin;
-- create "withdrawal_keys" table
CREATE TABLE `withdrawal_keys` (`id` bigint NOT NULL AUTO_INCREMENT, `kind` varchar(10) NOT NULL, `value` varchar(220) NOT NULL, `withdrawal_id` bigint NOT NULL, PRIMARY KEY (`id`), INDEX `withdrawalkey_kind_value` (`kind`, `value`), UNIQUE INDEX `withdrawalkey_withdrawal_id_kind_value` (`withdrawal_id`, `kind`, `value`), CONSTRAINT `withdrawal_keys_withdrawals_keys` FOREIGN KEY (`withdrawal_id`) REFERENCES `withdrawals` (`id`) ON UPDATE NO ACTION ON DELETE CASCADE) CHARSET utf8mb4 COLLATE utf8mb4_bin;
