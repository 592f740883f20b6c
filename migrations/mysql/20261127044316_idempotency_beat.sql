-- The heartbeat of a request with an idempotency key. The default means that the claim has none: its lease counts, as for
-- the version before.
-- modify "idempotency_keys" table
ALTER TABLE `idempotency_keys` ADD COLUMN `beat` bigint NOT NULL DEFAULT 0, ADD COLUMN `beat_attempt` bigint NOT NULL DEFAULT 0, ALGORITHM=INSTANT;
