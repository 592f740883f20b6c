-- What was answered to requests with a key, for a day. The version before does not know the table and does without.

-- create "idempotency_keys" table
CREATE TABLE `idempotency_keys` (`id` bigint NOT NULL AUTO_INCREMENT, `hash` binary(32) NOT NULL, `user_id` bigint NOT NULL, `fingerprint` binary(32) NOT NULL, `attempt` bigint NOT NULL DEFAULT 1, `lease_until` datetime NOT NULL, `expires_at` datetime NOT NULL, `record_id` bigint NOT NULL DEFAULT 0, `status` bigint NOT NULL DEFAULT 0, `header` json NULL, `body` mediumblob NULL, PRIMARY KEY (`id`), UNIQUE INDEX `hash` (`hash`), INDEX `idempotencykey_expires_at` (`expires_at`)) CHARSET utf8mb4 COLLATE utf8mb4_bin;
