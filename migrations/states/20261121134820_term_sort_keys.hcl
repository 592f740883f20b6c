# The tables after each statement of mysql/20261121134820_term_sort_keys.sql.
# Written by `almanac migrate diff` and `almanac migrate seal`. Do not edit.

# statement 1 of 4 nTqCb44QhJM5FpbT1usz/zmly0APsEKFVnodaGVi8y8=
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

# statement 2 of 4 Jb0WDJin3N/AC5zqqdiJUSj+27JcCxiHKlEb3WG0H1Y=
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
}

# statement 3 of 4 z2SlakovTCUuSSUZ8K/2gtLwDMmusAUkudVJfj79Tn8=
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
  index "term_taxonomy_sort_pl_id" {
    columns = [column.taxonomy, column.sort_pl, column.id]
  }
}

# statement 4 of 4 liw+Bn+hBVycsR0xMfUT1qdvpwTLRwAeEWEf8h60dq8=
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
