#!/bin/sh
# Makes the database and the two users of docs/dba.md: one for migrations, one for the service. compose.yaml has the
# image of MySQL run this script when it makes an empty volume. It can be run again on a volume of an earlier version:
#
#   docker compose exec mysql sh /docker-entrypoint-initdb.d/users.sh
#
# The passwords come from ALMANAC_MIGRATE_PASSWORD and ALMANAC_DB_PASSWORD, that of root from MYSQL_ROOT_PASSWORD. They
# stand in SQL and in URLs as they are: letters, digits and - . _ ~ only.
set -e
for password in "${ALMANAC_MIGRATE_PASSWORD:-}" "${ALMANAC_DB_PASSWORD:-}"; do
	case $password in
	'' | *[!A-Za-z0-9._~-]*)
		echo 'users.sh: a password may have letters, digits and - . _ ~ only, and one at least' >&2
		exit 1
		;;
	esac
done
MYSQL_PWD=$MYSQL_ROOT_PASSWORD mysql --user=root <<SQL
CREATE DATABASE IF NOT EXISTS \`almanac\` CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
CREATE USER 'almanac_migrate'@'%' IDENTIFIED BY '$ALMANAC_MIGRATE_PASSWORD';
GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, ALTER, DROP, INDEX, REFERENCES ON \`almanac\`.* TO 'almanac_migrate'@'%';
CREATE USER 'almanac_serve'@'%' IDENTIFIED BY '$ALMANAC_DB_PASSWORD';
GRANT SELECT, INSERT, UPDATE, DELETE ON \`almanac\`.* TO 'almanac_serve'@'%';
SQL
