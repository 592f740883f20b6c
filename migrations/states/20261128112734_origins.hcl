# The tables after each statement of mysql/20261128112734_origins.sql.
# Written by `almanac migrate diff` and `almanac migrate seal`. Do not edit.

# statement 1 of 1 qjI/F4/Lg8VTjFAVFRPga/xjqVBt7XIaKYMCW4cCXko=
table "origins" {
  schema  = schema.almanac
  charset = "utf8mb4"
  collate = "utf8mb4_bin"
  column "id" {
    null           = false
    type           = bigint
    auto_increment = true
  }
  column "source_id" {
    null = false
    type = varchar(300)
  }
  column "kind" {
    null = false
    type = varchar(10)
  }
  column "record_id" {
    null = false
    type = bigint
  }
  column "number" {
    null = true
    type = bigint
  }
  column "uid" {
    null = true
    type = varchar(255)
  }
  column "guid" {
    null = true
    type = varchar(500)
  }
  primary_key {
    columns = [column.id]
  }
  index "guid" {
    unique  = true
    columns = [column.guid]
  }
  index "origin_number" {
    columns = [column.number]
  }
  index "origin_record_id_kind" {
    columns = [column.record_id, column.kind]
  }
  index "source_id" {
    unique  = true
    columns = [column.source_id]
  }
  index "uid" {
    unique  = true
    columns = [column.uid]
  }
}
