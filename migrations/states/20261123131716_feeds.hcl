# The tables after each statement of mysql/20261123131716_feeds.sql.
# Written by `almanac migrate diff` and `almanac migrate seal`. Do not edit.

# statement 1 of 4 IguZ41uIdRS1GdJ5RZvtDo2NYCZkxrH8/ZfBnT41oAY=
table "events" {
  schema  = schema.almanac
  charset = "utf8mb4"
  collate = "utf8mb4_bin"
  column "id" {
    null = false
    type = bigint
  }
  column "status" {
    null = false
    type = varchar(10)
  }
  column "status_before_trash" {
    null    = false
    type    = varchar(10)
    default = ""
  }
  column "published_at" {
    null = false
    type = datetime
  }
  column "dated" {
    null    = false
    type    = bool
    default = 0
  }
  column "language" {
    null = false
    type = varchar(2)
  }
  column "languages" {
    null = false
    type = varchar(8)
  }
  column "created_at" {
    null = false
    type = datetime
  }
  column "modified_at" {
    null = false
    type = datetime
  }
  column "version" {
    null    = false
    type    = bigint
    default = 1
  }
  column "source_id" {
    null = true
    type = varchar(300)
  }
  column "title" {
    null = false
    type = varchar(500)
  }
  column "description" {
    null = false
    type = longtext
  }
  column "excerpt" {
    null = false
    type = longtext
  }
  column "slug" {
    null    = false
    type    = varchar(220)
    default = ""
  }
  column "starts_at" {
    null = false
    type = datetime
  }
  column "ends_at" {
    null = false
    type = datetime
  }
  column "start_wall" {
    null = false
    type = datetime
  }
  column "end_wall" {
    null = false
    type = datetime
  }
  column "timezone" {
    null = false
    type = varchar(64)
  }
  column "all_day" {
    null    = false
    type    = bool
    default = 0
  }
  column "cost" {
    null = true
    type = json
  }
  column "website" {
    null = true
    type = varchar(2048)
  }
  column "password_hash" {
    null = true
    type = binary(32)
  }
  column "show_map" {
    null    = false
    type    = bool
    default = 0
  }
  column "show_map_link" {
    null    = false
    type    = bool
    default = 0
  }
  column "hide_from_listings" {
    null    = false
    type    = bool
    default = 0
  }
  column "sticky" {
    null    = false
    type    = bool
    default = 0
  }
  column "featured" {
    null    = false
    type    = bool
    default = 0
  }
  column "ticketed" {
    null    = false
    type    = bool
    default = 0
  }
  column "parent_id" {
    null = true
    type = bigint
  }
  column "image_id" {
    null = true
    type = bigint
  }
  column "author_id" {
    null = true
    type = bigint
  }
  column "event_status" {
    null    = false
    type    = varchar(10)
    default = "scheduled"
  }
  column "event_status_reason" {
    null    = false
    type    = varchar(255)
    default = ""
  }
  column "attendance" {
    null    = false
    type    = varchar(10)
    default = "offline"
  }
  column "virtual_url" {
    null    = false
    type    = varchar(2048)
    default = ""
  }
  column "password_id" {
    null = true
    type = bigint
  }
  column "series_id" {
    null = true
    type = bigint
  }
  column "original_start" {
    null = true
    type = datetime
  }
  column "own_fields" {
    null = true
    type = json
  }
  column "off_schedule" {
    null    = false
    type    = bool
    default = 0
  }
  column "sequence" {
    null    = false
    type    = bigint
    default = 0
  }
  primary_key {
    columns = [column.id]
  }
  foreign_key "events_events_children" {
    columns     = [column.parent_id]
    ref_columns = [column.id]
    on_update   = NO_ACTION
    on_delete   = SET_NULL
  }
  foreign_key "events_images_events" {
    columns     = [column.image_id]
    ref_columns = [table.images.column.id]
    on_update   = NO_ACTION
    on_delete   = SET_NULL
  }
  foreign_key "events_users_events" {
    columns     = [column.author_id]
    ref_columns = [table.users.column.id]
    on_update   = NO_ACTION
    on_delete   = SET_NULL
  }
  index "event_author_id" {
    columns = [column.author_id]
  }
  index "event_image_id" {
    columns = [column.image_id]
  }
  index "event_parent_id_starts_at" {
    columns = [column.parent_id, column.starts_at]
  }
  index "event_series_id_original_start" {
    unique  = true
    columns = [column.series_id, column.original_start]
  }
  index "event_status_hide_from_listings_starts_at_id_ends_at" {
    columns = [column.status, column.hide_from_listings, column.starts_at, column.id, column.ends_at]
  }
  index "event_status_published_at_id" {
    columns = [column.status, column.published_at, column.id]
  }
  index "source_id" {
    unique  = true
    columns = [column.source_id]
  }
}

# statement 2 of 4 vjYA/a0l9OuHx4+KSOXe3PZ0aj+0HaeMBMXPK51xe9g=
table "events" {
  schema  = schema.almanac
  charset = "utf8mb4"
  collate = "utf8mb4_bin"
  column "id" {
    null = false
    type = bigint
  }
  column "status" {
    null = false
    type = varchar(10)
  }
  column "status_before_trash" {
    null    = false
    type    = varchar(10)
    default = ""
  }
  column "published_at" {
    null = false
    type = datetime
  }
  column "dated" {
    null    = false
    type    = bool
    default = 0
  }
  column "language" {
    null = false
    type = varchar(2)
  }
  column "languages" {
    null = false
    type = varchar(8)
  }
  column "created_at" {
    null = false
    type = datetime
  }
  column "modified_at" {
    null = false
    type = datetime
  }
  column "version" {
    null    = false
    type    = bigint
    default = 1
  }
  column "source_id" {
    null = true
    type = varchar(300)
  }
  column "title" {
    null = false
    type = varchar(500)
  }
  column "description" {
    null = false
    type = longtext
  }
  column "excerpt" {
    null = false
    type = longtext
  }
  column "slug" {
    null    = false
    type    = varchar(220)
    default = ""
  }
  column "starts_at" {
    null = false
    type = datetime
  }
  column "ends_at" {
    null = false
    type = datetime
  }
  column "start_wall" {
    null = false
    type = datetime
  }
  column "end_wall" {
    null = false
    type = datetime
  }
  column "timezone" {
    null = false
    type = varchar(64)
  }
  column "all_day" {
    null    = false
    type    = bool
    default = 0
  }
  column "cost" {
    null = true
    type = json
  }
  column "website" {
    null = true
    type = varchar(2048)
  }
  column "password_hash" {
    null = true
    type = binary(32)
  }
  column "show_map" {
    null    = false
    type    = bool
    default = 0
  }
  column "show_map_link" {
    null    = false
    type    = bool
    default = 0
  }
  column "hide_from_listings" {
    null    = false
    type    = bool
    default = 0
  }
  column "sticky" {
    null    = false
    type    = bool
    default = 0
  }
  column "featured" {
    null    = false
    type    = bool
    default = 0
  }
  column "ticketed" {
    null    = false
    type    = bool
    default = 0
  }
  column "parent_id" {
    null = true
    type = bigint
  }
  column "image_id" {
    null = true
    type = bigint
  }
  column "author_id" {
    null = true
    type = bigint
  }
  column "event_status" {
    null    = false
    type    = varchar(10)
    default = "scheduled"
  }
  column "event_status_reason" {
    null    = false
    type    = varchar(255)
    default = ""
  }
  column "attendance" {
    null    = false
    type    = varchar(10)
    default = "offline"
  }
  column "virtual_url" {
    null    = false
    type    = varchar(2048)
    default = ""
  }
  column "password_id" {
    null = true
    type = bigint
  }
  column "series_id" {
    null = true
    type = bigint
  }
  column "original_start" {
    null = true
    type = datetime
  }
  column "own_fields" {
    null = true
    type = json
  }
  column "off_schedule" {
    null    = false
    type    = bool
    default = 0
  }
  column "sequence" {
    null    = false
    type    = bigint
    default = 0
  }
  primary_key {
    columns = [column.id]
  }
  foreign_key "events_events_children" {
    columns     = [column.parent_id]
    ref_columns = [column.id]
    on_update   = NO_ACTION
    on_delete   = SET_NULL
  }
  foreign_key "events_images_events" {
    columns     = [column.image_id]
    ref_columns = [table.images.column.id]
    on_update   = NO_ACTION
    on_delete   = SET_NULL
  }
  foreign_key "events_users_events" {
    columns     = [column.author_id]
    ref_columns = [table.users.column.id]
    on_update   = NO_ACTION
    on_delete   = SET_NULL
  }
  index "event_author_id" {
    columns = [column.author_id]
  }
  index "event_image_id" {
    columns = [column.image_id]
  }
  index "event_parent_id_starts_at" {
    columns = [column.parent_id, column.starts_at]
  }
  index "event_series_id_original_start" {
    unique  = true
    columns = [column.series_id, column.original_start]
  }
  index "event_status_hide_from_listings_modified_at_id_ends_at" {
    columns = [column.status, column.hide_from_listings, column.modified_at, column.id, column.ends_at]
  }
  index "event_status_hide_from_listings_starts_at_id_ends_at" {
    columns = [column.status, column.hide_from_listings, column.starts_at, column.id, column.ends_at]
  }
  index "event_status_published_at_id" {
    columns = [column.status, column.published_at, column.id]
  }
  index "source_id" {
    unique  = true
    columns = [column.source_id]
  }
}

# statement 3 of 4 LDca7mtghkwUXqslamybglCOzPZEi2ThSVMSu4qzHpo=
table "withdrawals" {
  schema  = schema.almanac
  charset = "utf8mb4"
  collate = "utf8mb4_bin"
  column "id" {
    null = false
    type = bigint
  }
  column "at" {
    null = false
    type = datetime
  }
  column "listed" {
    null = false
    type = bool
  }
  column "starts_at" {
    null = false
    type = datetime
  }
  column "ends_at" {
    null = false
    type = datetime
  }
  column "start_wall" {
    null = false
    type = datetime
  }
  column "end_wall" {
    null = false
    type = datetime
  }
  column "timezone" {
    null = false
    type = varchar(64)
  }
  column "all_day" {
    null = false
    type = bool
  }
  primary_key {
    columns = [column.id]
  }
  index "withdrawal_at" {
    columns = [column.at]
  }
  index "withdrawal_starts_at_id" {
    columns = [column.starts_at, column.id]
  }
}

# statement 4 of 4 BLh7Bt0O86Yssg/BUIectuR2KyHfb2WYr8VEGfrk20c=
table "withdrawal_keys" {
  schema  = schema.almanac
  charset = "utf8mb4"
  collate = "utf8mb4_bin"
  column "id" {
    null           = false
    type           = bigint
    auto_increment = true
  }
  column "kind" {
    null = false
    type = varchar(10)
  }
  column "value" {
    null = false
    type = varchar(220)
  }
  column "withdrawal_id" {
    null = false
    type = bigint
  }
  primary_key {
    columns = [column.id]
  }
  foreign_key "withdrawal_keys_withdrawals_keys" {
    columns     = [column.withdrawal_id]
    ref_columns = [table.withdrawals.column.id]
    on_update   = NO_ACTION
    on_delete   = CASCADE
  }
  index "withdrawalkey_kind_value" {
    columns = [column.kind, column.value]
  }
  index "withdrawalkey_withdrawal_id_kind_value" {
    unique  = true
    columns = [column.withdrawal_id, column.kind, column.value]
  }
}
