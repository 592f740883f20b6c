# The tables after each statement of mysql/20261127062335_hidden_changes.sql.
# Written by `almanac migrate diff` and `almanac migrate seal`. Do not edit.

# statement 1 of 7 PeBPFq8Hc6LZrsDLyOhWjLV+GqMY4X6BZghHdaOI1v4=
table "changes" {
  schema  = schema.almanac
  charset = "utf8mb4"
  collate = "utf8mb4_bin"
  column "id" {
    null = false
    type = bigint
  }
  column "kind" {
    null = false
    type = varchar(10)
  }
  column "record_id" {
    null = false
    type = bigint
  }
  column "action" {
    null = false
    type = varchar(10)
  }
  column "user_id" {
    null = true
    type = bigint
  }
  column "at" {
    null = false
    type = datetime
  }
  column "fields" {
    null = true
    type = json
  }
  column "hidden" {
    null    = false
    type    = bool
    default = 0
  }
  primary_key {
    columns = [column.id]
  }
  index "change_kind_record_id_id" {
    columns = [column.kind, column.record_id, column.id]
  }
}

# statement 2 of 7 UkaFLHMFsoiYHXGNA9LdWt8hnl3tXgVu5dwvgI5dM+g=
table "changes" {
  schema  = schema.almanac
  charset = "utf8mb4"
  collate = "utf8mb4_bin"
  column "id" {
    null = false
    type = bigint
  }
  column "kind" {
    null = false
    type = varchar(10)
  }
  column "record_id" {
    null = false
    type = bigint
  }
  column "action" {
    null = false
    type = varchar(10)
  }
  column "user_id" {
    null = true
    type = bigint
  }
  column "at" {
    null = false
    type = datetime
  }
  column "fields" {
    null = true
    type = json
  }
  column "hidden" {
    null    = false
    type    = bool
    default = 0
  }
  primary_key {
    columns = [column.id]
  }
  index "change_hidden_id" {
    columns = [column.hidden, column.id]
  }
  index "change_kind_record_id_id" {
    columns = [column.kind, column.record_id, column.id]
  }
}

# statement 3 of 7 0R52ZZFJmFAeSyXiTI8XfEM9RAXTMLYROkdbp6uvkXw=
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
  column "hidden_at" {
    null = true
    type = datetime
  }
  column "hidden_changes" {
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

# statement 4 of 7 OCgTP0tIJh0DOg7I3wmJbsAPpO2T6e5rGQ4D3IyW0vg=
table "organizers" {
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
  column "name" {
    null = false
    type = varchar(500)
  }
  column "name_key" {
    null = false
    type = varchar(500)
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
  column "phone" {
    null    = false
    type    = varchar(255)
    default = ""
  }
  column "website" {
    null    = false
    type    = varchar(2048)
    default = ""
  }
  column "email" {
    null    = false
    type    = varchar(255)
    default = ""
  }
  column "image_id" {
    null = true
    type = bigint
  }
  column "author_id" {
    null = true
    type = bigint
  }
  column "hidden_at" {
    null = true
    type = datetime
  }
  column "hidden_changes" {
    null    = false
    type    = bigint
    default = 0
  }
  primary_key {
    columns = [column.id]
  }
  foreign_key "organizers_images_organizers" {
    columns     = [column.image_id]
    ref_columns = [table.images.column.id]
    on_update   = NO_ACTION
    on_delete   = SET_NULL
  }
  foreign_key "organizers_users_organizers" {
    columns     = [column.author_id]
    ref_columns = [table.users.column.id]
    on_update   = NO_ACTION
    on_delete   = SET_NULL
  }
  index "organizer_author_id" {
    columns = [column.author_id]
  }
  index "organizer_image_id" {
    columns = [column.image_id]
  }
  index "organizer_name_key" {
    columns = [column.name_key]
  }
  index "organizer_status_published_at_id" {
    columns = [column.status, column.published_at, column.id]
  }
  index "source_id" {
    unique  = true
    columns = [column.source_id]
  }
}

# statement 5 of 7 T7TvzMQcqNZ+OGp5fDbjyPt10MtEajpGGy/H96K9VvQ=
table "series" {
  schema  = schema.almanac
  charset = "utf8mb4"
  collate = "utf8mb4_bin"
  column "id" {
    null = false
    type = bigint
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
  column "slug" {
    null    = false
    type    = varchar(220)
    default = ""
  }
  column "hide_from_listings" {
    null    = false
    type    = bool
    default = 0
  }
  column "protected" {
    null    = false
    type    = bool
    default = 0
  }
  column "generated_until" {
    null = true
    type = datetime
  }
  column "extend_at" {
    null = true
    type = datetime
  }
  column "sort_en" {
    null = true
    type = varbinary(512)
  }
  column "sort_pl" {
    null = true
    type = varbinary(512)
  }
  column "sort_es" {
    null = true
    type = varbinary(512)
  }
  column "author_id" {
    null = true
    type = bigint
  }
  column "hidden_at" {
    null = true
    type = datetime
  }
  column "hidden_changes" {
    null    = false
    type    = bigint
    default = 0
  }
  primary_key {
    columns = [column.id]
  }
  foreign_key "series_users_series" {
    columns     = [column.author_id]
    ref_columns = [table.users.column.id]
    on_update   = NO_ACTION
    on_delete   = SET_NULL
  }
  index "series_author_id" {
    columns = [column.author_id]
  }
  index "series_extend_at" {
    columns = [column.extend_at]
  }
  index "series_status_sort_en_id" {
    columns = [column.status, column.sort_en, column.id]
  }
  index "series_status_sort_es_id" {
    columns = [column.status, column.sort_es, column.id]
  }
  index "series_status_sort_pl_id" {
    columns = [column.status, column.sort_pl, column.id]
  }
  index "source_id" {
    unique  = true
    columns = [column.source_id]
  }
}

# statement 6 of 7 2CnOkA3VXcSG1rwaXNu4jkaLV46uigILidlHR3sVlVY=
table "terms" {
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
  column "name" {
    null = false
    type = varchar(500)
  }
  column "name_key" {
    null = false
    type = varchar(500)
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
  column "taxonomy" {
    null = false
    type = varchar(10)
  }
  column "event_count" {
    null    = false
    type    = bigint
    default = 0
  }
  column "parent_id" {
    null = true
    type = bigint
  }
  column "sort_en" {
    null = true
    type = varbinary(512)
  }
  column "sort_pl" {
    null = true
    type = varbinary(512)
  }
  column "sort_es" {
    null = true
    type = varbinary(512)
  }
  column "description_sort_en" {
    null = true
    type = varbinary(255)
  }
  column "description_sort_pl" {
    null = true
    type = varbinary(255)
  }
  column "description_sort_es" {
    null = true
    type = varbinary(255)
  }
  column "hidden_at" {
    null = true
    type = datetime
  }
  column "hidden_changes" {
    null    = false
    type    = bigint
    default = 0
  }
  primary_key {
    columns = [column.id]
  }
  foreign_key "terms_terms_children" {
    columns     = [column.parent_id]
    ref_columns = [column.id]
    on_update   = NO_ACTION
    on_delete   = SET_NULL
  }
  index "source_id" {
    unique  = true
    columns = [column.source_id]
  }
  index "term_name_key" {
    columns = [column.name_key]
  }
  index "term_parent_id" {
    columns = [column.parent_id]
  }
  index "term_taxonomy_name_key_id" {
    columns = [column.taxonomy, column.name_key, column.id]
  }
  index "term_taxonomy_sort_en_id" {
    columns = [column.taxonomy, column.sort_en, column.id]
  }
  index "term_taxonomy_sort_es_id" {
    columns = [column.taxonomy, column.sort_es, column.id]
  }
  index "term_taxonomy_sort_pl_id" {
    columns = [column.taxonomy, column.sort_pl, column.id]
  }
}

# statement 7 of 7 x5yjmGNuxXzXye+RZ/icdG/a1+UCsn6emAE5jJ7xXtg=
table "venues" {
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
  column "name" {
    null = false
    type = varchar(500)
  }
  column "name_key" {
    null = false
    type = varchar(500)
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
  column "address" {
    null    = false
    type    = varchar(255)
    default = ""
  }
  column "city" {
    null    = false
    type    = varchar(255)
    default = ""
  }
  column "country" {
    null    = false
    type    = varchar(255)
    default = ""
  }
  column "province" {
    null    = false
    type    = varchar(255)
    default = ""
  }
  column "state" {
    null    = false
    type    = varchar(255)
    default = ""
  }
  column "zip" {
    null    = false
    type    = varchar(255)
    default = ""
  }
  column "phone" {
    null    = false
    type    = varchar(255)
    default = ""
  }
  column "stateprovince" {
    null    = false
    type    = varchar(255)
    default = ""
  }
  column "website" {
    null    = false
    type    = varchar(2048)
    default = ""
  }
  column "show_map" {
    null    = false
    type    = bool
    default = 1
  }
  column "show_map_link" {
    null    = false
    type    = bool
    default = 1
  }
  column "latitude" {
    null = true
    type = double
  }
  column "longitude" {
    null = true
    type = double
  }
  column "cell" {
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
  column "hidden_at" {
    null = true
    type = datetime
  }
  column "hidden_changes" {
    null    = false
    type    = bigint
    default = 0
  }
  primary_key {
    columns = [column.id]
  }
  foreign_key "venues_images_venues" {
    columns     = [column.image_id]
    ref_columns = [table.images.column.id]
    on_update   = NO_ACTION
    on_delete   = SET_NULL
  }
  foreign_key "venues_users_venues" {
    columns     = [column.author_id]
    ref_columns = [table.users.column.id]
    on_update   = NO_ACTION
    on_delete   = SET_NULL
  }
  index "source_id" {
    unique  = true
    columns = [column.source_id]
  }
  index "venue_author_id" {
    columns = [column.author_id]
  }
  index "venue_cell" {
    columns = [column.cell]
  }
  index "venue_image_id" {
    columns = [column.image_id]
  }
  index "venue_name_key" {
    columns = [column.name_key]
  }
  index "venue_status_published_at_id" {
    columns = [column.status, column.published_at, column.id]
  }
}
