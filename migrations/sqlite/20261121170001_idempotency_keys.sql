-- What was answered to requests with a key, for a day. The version before does not know the table and does without.

-- create "idempotency_keys" table
CREATE TABLE `idempotency_keys` (`id` integer NOT NULL PRIMARY KEY AUTOINCREMENT, `hash` blob NOT NULL, `user_id` integer NOT NULL, `fingerprint` blob NOT NULL, `attempt` integer NOT NULL DEFAULT (1), `lease_until` datetime NOT NULL, `expires_at` datetime NOT NULL, `record_id` integer NOT NULL DEFAULT (0), `status` integer NOT NULL DEFAULT (0), `header` json NULL, `body` blob NULL);
-- create index "idempotency_keys_hash_key" to table: "idempotency_keys"
CREATE UNIQUE INDEX `idempotency_keys_hash_key` ON `idempotency_keys` (`hash`);
-- create index "idempotencykey_expires_at" to table: "idempotency_keys"
CREATE INDEX `idempotencykey_expires_at` ON `idempotency_keys` (`expires_at`);
