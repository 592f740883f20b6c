# The tables after each statement of mysql/20261121120147_initial.sql.
# Written by `almanac migrate diff` and `almanac migrate seal`. Do not edit.

# statement 1 of 20 mNzIt0JoJjas5bJbTTDTKZLuSijoTPS/1bGhzt1UXUU=
table "records" {
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
  primary_key {
    columns = [column.id]
  }
}

# statement 2 of 20 mPxEDjG10GnVbfEs00x+Xm7yj8iCcWziYPkZWMH3tZ4=
table "counters" {
  schema  = schema.almanac
  charset = "utf8mb4"
  collate = "utf8mb4_bin"
  column "name" {
    null = false
    type = varchar(50)
  }
  column "value" {
    null    = false
    type    = bigint
    default = 0
  }
  primary_key {
    columns = [column.name]
  }
}

# statement 3 of 20 GiU20lcbgQgXVpl3+htwhq3Sm1uUgPslQrovaeFfzbk=
table "slugs" {
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
  column "slug" {
    null = false
    type = varchar(220)
  }
  column "owner_id" {
    null = false
    type = bigint
  }
  column "language" {
    null = false
    type = varchar(2)
  }
  column "trashed_id" {
    null    = false
    type    = bigint
    default = 0
  }
  primary_key {
    columns = [column.id]
  }
  index "slug_kind_slug_trashed_id" {
    unique  = true
    columns = [column.kind, column.slug, column.trashed_id]
  }
  index "slug_owner_id_kind" {
    columns = [column.owner_id, column.kind]
  }
}

# statement 4 of 20 7xTrW2bHDVFQ69l0JemlvRYRiFecdZOPQU3adPHMxJk=
table "settings" {
  schema  = schema.almanac
  charset = "utf8mb4"
  collate = "utf8mb4_bin"
  column "name" {
    null = false
    type = varchar(50)
  }
  column "value" {
    null = false
    type = blob
  }
  primary_key {
    columns = [column.name]
  }
}

# statement 5 of 20 WxixLiHBuG08xfU3SDXUgIlud241Rrj/QbCoTH33LGo=
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
  primary_key {
    columns = [column.id]
  }
  index "change_kind_record_id_id" {
    columns = [column.kind, column.record_id, column.id]
  }
}

# statement 6 of 20 82U2GJN8+qp5kdFAiq5uJ9XBqh6bhEQsFOgccYA/LB8=
table "users" {
  schema  = schema.almanac
  charset = "utf8mb4"
  collate = "utf8mb4_bin"
  column "id" {
    null           = false
    type           = bigint
    auto_increment = true
  }
  column "login" {
    null = false
    type = varchar(100)
  }
  column "name" {
    null    = false
    type    = varchar(255)
    default = ""
  }
  column "role" {
    null = false
    type = varchar(20)
  }
  column "password_hash" {
    null = true
    type = varchar(255)
  }
  column "created_at" {
    null = false
    type = datetime
  }
  column "disabled_at" {
    null = true
    type = datetime
  }
  primary_key {
    columns = [column.id]
  }
  index "login" {
    unique  = true
    columns = [column.login]
  }
}

# statement 7 of 20 UB6awf1wORUUXWHtZjiYbN98nhGdCPVumuiyhV4KWK4=
table "search_texts" {
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
  column "owner_id" {
    null = false
    type = bigint
  }
  column "languages" {
    null = false
    type = bigint
  }
  column "text" {
    null = false
    type = longtext
  }
  primary_key {
    columns = [column.id]
  }
  index "searchtext_owner_id_kind" {
    columns = [column.owner_id, column.kind]
  }
}

# statement 8 of 20 OV2UFgEa1oRLi4CKBxrjxC8vo8Md4nZd9PaYO/d/8MA=
table "images" {
  schema  = schema.almanac
  charset = "utf8mb4"
  collate = "utf8mb4_bin"
  column "id" {
    null = false
    type = bigint
  }
  column "path" {
    null    = false
    type    = varchar(255)
    default = ""
  }
  column "source_url" {
    null    = false
    type    = varchar(2048)
    default = ""
  }
  column "source_id" {
    null = true
    type = varchar(300)
  }
  column "extension" {
    null = false
    type = varchar(10)
  }
  column "mime_type" {
    null = false
    type = varchar(50)
  }
  column "width" {
    null = false
    type = bigint
  }
  column "height" {
    null = false
    type = bigint
  }
  column "filesize" {
    null = false
    type = bigint
  }
  column "sizes" {
    null = true
    type = json
  }
  column "created_at" {
    null = false
    type = datetime
  }
  column "version" {
    null    = false
    type    = bigint
    default = 1
  }
  column "author_id" {
    null = true
    type = bigint
  }
  primary_key {
    columns = [column.id]
  }
  foreign_key "images_users_images" {
    columns     = [column.author_id]
    ref_columns = [table.users.column.id]
    on_update   = NO_ACTION
    on_delete   = SET_NULL
  }
  index "image_author_id" {
    columns = [column.author_id]
  }
  index "image_created_at_id" {
    columns = [column.created_at, column.id]
  }
  index "image_path" {
    columns = [column.path]
  }
  index "source_id" {
    unique  = true
    columns = [column.source_id]
  }
}

# statement 9 of 20 a4dB6wcFU1Js0j0/djk3tx1TPNdfKbbPlGMEruquW8k=
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

# statement 10 of 20 AaKUtUUURGI+8I5H3Q1Tl6Jk3iLFr4Nt80sKumkQ+QY=
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

# statement 11 of 20 notFXbylLz94TbjEZfaLyGfMl/1ytD81Bhkim1zKrcA=
table "event_organizers" {
  schema  = schema.almanac
  charset = "utf8mb4"
  collate = "utf8mb4_bin"
  column "position" {
    null    = false
    type    = bigint
    default = 0
  }
  column "event_id" {
    null = false
    type = bigint
  }
  column "organizer_id" {
    null = false
    type = bigint
  }
  primary_key {
    columns = [column.event_id, column.organizer_id]
  }
  foreign_key "event_organizers_events_event" {
    columns     = [column.event_id]
    ref_columns = [table.events.column.id]
    on_update   = NO_ACTION
    on_delete   = NO_ACTION
  }
  foreign_key "event_organizers_organizers_organizer" {
    columns     = [column.organizer_id]
    ref_columns = [table.organizers.column.id]
    on_update   = NO_ACTION
    on_delete   = NO_ACTION
  }
  index "eventorganizer_organizer_id_event_id" {
    columns = [column.organizer_id, column.event_id]
  }
}

# statement 12 of 20 Y8MWyRhalIwScijDshNwXod/i7MrdD0lMCB8/e3uOJM=
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
}

# statement 13 of 20 P0AdoDZCuDwYpnatTYctHrVzHb0pO91PHOCGhYogSBk=
table "event_terms" {
  schema  = schema.almanac
  charset = "utf8mb4"
  collate = "utf8mb4_bin"
  column "event_id" {
    null = false
    type = bigint
  }
  column "term_id" {
    null = false
    type = bigint
  }
  primary_key {
    columns = [column.event_id, column.term_id]
  }
  foreign_key "event_terms_events_event" {
    columns     = [column.event_id]
    ref_columns = [table.events.column.id]
    on_update   = NO_ACTION
    on_delete   = CASCADE
  }
  foreign_key "event_terms_terms_term" {
    columns     = [column.term_id]
    ref_columns = [table.terms.column.id]
    on_update   = NO_ACTION
    on_delete   = CASCADE
  }
  index "eventterm_term_id_event_id" {
    columns = [column.term_id, column.event_id]
  }
}

# statement 14 of 20 gVdKXyCeCmPKrAV61ghp8PRaevr22MxkfBJpRQliSJ4=
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

# statement 15 of 20 26Qlxd71o9nqLuls95XRAV8OL9tDz3Trd8wLtA42IN8=
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

# statement 16 of 20 I0lRX7RcGltl9exBx9TjNqD3rS5IYD2rNvirFRQoDFo=
table "event_venues" {
  schema  = schema.almanac
  charset = "utf8mb4"
  collate = "utf8mb4_bin"
  column "position" {
    null    = false
    type    = bigint
    default = 0
  }
  column "event_id" {
    null = false
    type = bigint
  }
  column "venue_id" {
    null = false
    type = bigint
  }
  primary_key {
    columns = [column.event_id, column.venue_id]
  }
  foreign_key "event_venues_events_event" {
    columns     = [column.event_id]
    ref_columns = [table.events.column.id]
    on_update   = NO_ACTION
    on_delete   = NO_ACTION
  }
  foreign_key "event_venues_venues_venue" {
    columns     = [column.venue_id]
    ref_columns = [table.venues.column.id]
    on_update   = NO_ACTION
    on_delete   = NO_ACTION
  }
  index "eventvenue_venue_id_event_id" {
    columns = [column.venue_id, column.event_id]
  }
}

# statement 17 of 20 QmVZe9Xatx0KA7K9bbIR9SKUdl/l/BVqfH0uAcH7il4=
table "organizer_translations" {
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
  column "name" {
    null    = false
    type    = varchar(500)
    default = ""
  }
  column "name_key" {
    null    = false
    type    = varchar(500)
    default = ""
  }
  column "organizer_id" {
    null = false
    type = bigint
  }
  primary_key {
    columns = [column.id]
  }
  foreign_key "organizer_translations_organizers_translations" {
    columns     = [column.organizer_id]
    ref_columns = [table.organizers.column.id]
    on_update   = NO_ACTION
    on_delete   = CASCADE
  }
  index "organizertranslation_name_key" {
    columns = [column.name_key]
  }
  index "organizertranslation_organizer_id_language" {
    unique  = true
    columns = [column.organizer_id, column.language]
  }
}

# statement 18 of 20 DAnZMURYwn9EgNHCQKpfEtM5u5uez7+JPH5IXcDXU7E=
table "term_translations" {
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
  column "name" {
    null    = false
    type    = varchar(500)
    default = ""
  }
  column "name_key" {
    null    = false
    type    = varchar(500)
    default = ""
  }
  column "term_id" {
    null = false
    type = bigint
  }
  primary_key {
    columns = [column.id]
  }
  foreign_key "term_translations_terms_translations" {
    columns     = [column.term_id]
    ref_columns = [table.terms.column.id]
    on_update   = NO_ACTION
    on_delete   = CASCADE
  }
  index "termtranslation_name_key" {
    columns = [column.name_key]
  }
  index "termtranslation_term_id_language" {
    unique  = true
    columns = [column.term_id, column.language]
  }
}

# statement 19 of 20 8H2geYiKcTyvzCjx5fZFySFz6ZFb6YtZFrnvtSmNwKQ=
table "tokens" {
  schema  = schema.almanac
  charset = "utf8mb4"
  collate = "utf8mb4_bin"
  column "id" {
    null           = false
    type           = bigint
    auto_increment = true
  }
  column "name" {
    null    = false
    type    = varchar(255)
    default = ""
  }
  column "hash" {
    null = false
    type = binary(32)
  }
  column "created_at" {
    null = false
    type = datetime
  }
  column "expires_at" {
    null = true
    type = datetime
  }
  column "last_used_at" {
    null = true
    type = datetime
  }
  column "revoked_at" {
    null = true
    type = datetime
  }
  column "user_id" {
    null = false
    type = bigint
  }
  primary_key {
    columns = [column.id]
  }
  foreign_key "tokens_users_tokens" {
    columns     = [column.user_id]
    ref_columns = [table.users.column.id]
    on_update   = NO_ACTION
    on_delete   = CASCADE
  }
  index "hash" {
    unique  = true
    columns = [column.hash]
  }
  index "token_user_id" {
    columns = [column.user_id]
  }
}

# statement 20 of 20 kvg2hHDKPiLzj8xymm4f//NXniK2KhUXO/pTXTK1hW8=
table "venue_translations" {
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
  column "name" {
    null    = false
    type    = varchar(500)
    default = ""
  }
  column "name_key" {
    null    = false
    type    = varchar(500)
    default = ""
  }
  column "venue_id" {
    null = false
    type = bigint
  }
  primary_key {
    columns = [column.id]
  }
  foreign_key "venue_translations_venues_translations" {
    columns     = [column.venue_id]
    ref_columns = [table.venues.column.id]
    on_update   = NO_ACTION
    on_delete   = CASCADE
  }
  index "venuetranslation_name_key" {
    columns = [column.name_key]
  }
  index "venuetranslation_venue_id_language" {
    unique  = true
    columns = [column.venue_id, column.language]
  }
}
