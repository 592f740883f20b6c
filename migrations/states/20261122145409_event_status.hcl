# The tables after each statement of mysql/20261122145409_event_status.sql.
# Written by `almanac migrate diff` and `almanac migrate seal`. Do not edit.

# statement 1 of 2 IQhXoArKaq6fVaPC252TbJRGYANpUpndnN9hLYuG90M=
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

# statement 2 of 2 gVBjocCumcFbg1qalxplLGpS4TE8bSYBCyUWDUrrQfU=
table "event_translations" {
  schema  = schema.almanac
  charset = "utf8mb4"
  collate = "utf8mb4_bin"
  column "id" {
    null           = false
    type           = bigint
    auto_increment = true
  }
  column "language" {
    null = false
    type = varchar(2)
  }
  column "description" {
    null = false
    type = longtext
  }
  column "slug" {
    null    = false
    type    = varchar(220)
    default = ""
  }
  column "title" {
    null    = false
    type    = varchar(500)
    default = ""
  }
  column "excerpt" {
    null = false
    type = longtext
  }
  column "event_id" {
    null = false
    type = bigint
  }
  column "event_status_reason" {
    null    = false
    type    = varchar(255)
    default = ""
  }
  primary_key {
    columns = [column.id]
  }
  foreign_key "event_translations_events_translations" {
    columns     = [column.event_id]
    ref_columns = [table.events.column.id]
    on_update   = NO_ACTION
    on_delete   = CASCADE
  }
  index "eventtranslation_event_id_language" {
    unique  = true
    columns = [column.event_id, column.language]
  }
}
