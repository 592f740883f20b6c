# For the Atlas CLI (https://atlasgo.io), in its community and its official build. The service needs neither:
# `almanac migrate` reads and writes the same migrations/ and the same table of revisions, plans the same
# migrations, and lints them with the same analyzers.
#
#   atlas migrate status   --env mysql --var url="mysql://user:password@host:3306/almanac"
#   atlas migrate apply    --env mysql --var url="mysql://user:password@host:3306/almanac"
#   atlas migrate validate --env mysql
#   atlas migrate diff     --env mysql --var dev="mysql://root@127.0.0.1:3306/almanac_dev" NAME
#   atlas migrate lint     --env mysql --latest 1      # the official build asks for a login
#   atlas schema inspect   --env mysql --var url="mysql://user:password@host:3306/almanac"
#
# The URL names the database: without one, the CLI keeps its revisions in a schema of its own. Migrations that
# belong to data steps are followed by `almanac migrate data`.
#
# Official build only: src = "ent://schema" and data "external_schema" instead of the files below; `migrate down`,
# `migrate test`, `migrate checkpoint`, `migrate rebase`, `migrate push`, `migrate edit` and `migrate rm`. None is
# needed here, and down is not how Almanac is rolled back: see docs/dba.md.

variable "url" {
  description = "The database to work on."
  type        = string
  default     = getenv("ALMANAC_DB")
}

variable "dev" {
  description = "An empty database of the same engine, to plan in. MySQL itself for mysql: MariaDB plans differently."
  type        = string
  default     = getenv("ALMANAC_DEV")
}

env "mysql" {
  # What `almanac migrate diff` writes from schema/.
  src = "file://schema.mysql.sql"
  url = var.url
  # Both builds also start a server by themselves, where there is Docker: --var dev="docker://mysql/8/dev".
  dev = var.dev != "" ? var.dev : "mysql://root@127.0.0.1:3306/almanac_dev"
  # Belongs to the migrations, not to the schema: a plan would drop it.
  exclude = ["atlas_schema_revisions"]

  migration {
    dir = "file://migrations/mysql"
  }

  lint {
    destructive {
      error = true
    }
  }
}

# The migrations of MySQL, on MariaDB: for status, apply, validate, lint and inspect. New ones are planned in env
# mysql, because MariaDB words the same schema differently.
env "mariadb" {
  src     = "file://schema.mysql.sql"
  url     = var.url
  dev     = var.dev != "" ? var.dev : "mariadb://root@127.0.0.1:3306/almanac_dev"
  exclude = ["atlas_schema_revisions"]

  migration {
    dir = "file://migrations/mysql"
  }

  lint {
    destructive {
      error = true
    }
  }
}

env "sqlite" {
  src     = "file://schema.sqlite.sql"
  url     = var.url != "" ? var.url : "sqlite://almanac.db?_fk=1"
  dev     = var.dev != "" ? var.dev : "sqlite://dev?mode=memory&_fk=1"
  exclude = ["atlas_schema_revisions"]

  migration {
    dir = "file://migrations/sqlite"
  }

  lint {
    destructive {
      error = true
    }
  }
}
