# The tables after each statement of mysql/20261127044316_idempotency_beat.sql.
# Written by `almanac migrate diff` and `almanac migrate seal`. Do not edit.

# statement 1 of 1 zHNEarHF2ZbajWaRAMd12oL3xVNRdUl6L1VKFRgYpv4=
table "idempotency_keys" {
  schema  = schema.almanac
  charset = "utf8mb4"
  collate = "utf8mb4_bin"
  column "id" {
    null           = false
    type           = bigint
    auto_increment = true
  }
  column "hash" {
    null = false
    type = binary(32)
  }
  column "user_id" {
    null = false
    type = bigint
  }
  column "fingerprint" {
    null = false
    type = binary(32)
  }
  column "attempt" {
    null    = false
    type    = bigint
    default = 1
  }
  column "lease_until" {
    null = false
    type = datetime
  }
  column "expires_at" {
    null = false
    type = datetime
  }
  column "record_id" {
    null    = false
    type    = bigint
    default = 0
  }
  column "status" {
    null    = false
    type    = bigint
    default = 0
  }
  column "header" {
    null = true
    type = json
  }
  column "body" {
    null = true
    type = mediumblob
  }
  column "beat" {
    null    = false
    type    = bigint
    default = 0
  }
  column "beat_attempt" {
    null    = false
    type    = bigint
    default = 0
  }
  primary_key {
    columns = [column.id]
  }
  index "hash" {
    unique  = true
    columns = [column.hash]
  }
  index "idempotencykey_expires_at" {
    columns = [column.expires_at]
  }
}
