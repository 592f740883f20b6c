-- The heartbeat of a request with an idempotency key. The default means that the claim has none: its lease counts, as for
-- the version before.
-- Columns are added and not the table made anew: that would copy all rows.

-- add column "beat" to table: "idempotency_keys"
ALTER TABLE `idempotency_keys` ADD COLUMN `beat` integer NOT NULL DEFAULT (0);
-- add column "beat_attempt" to table: "idempotency_keys"
ALTER TABLE `idempotency_keys` ADD COLUMN `beat_attempt` integer NOT NULL DEFAULT (0);
