package migrate_test

import (
	"testing"

	"github.com/almanac-cal/almanac/internal/migrate"
)

func TestOnlyWhatAddsLeavesReferencesAlone(t *testing.T) {
	t.Parallel()
	for statement, want := range map[string]bool{
		"CREATE TABLE `t` (`id` integer)":                             false,
		"CREATE INDEX `i` ON `t` (`id`)":                              false,
		"create unique index i on t (id)":                             false,
		"DROP INDEX `i`":                                              false,
		"ALTER TABLE `terms` ADD COLUMN `sort_en` blob NULL":          false,
		"ALTER TABLE `t` ADD COLUMN `p` integer REFERENCES p(id)":     true,
		"ALTER TABLE `t` DROP COLUMN `p`":                             true,
		"ALTER TABLE `new_t` RENAME TO `t`":                           true,
		"DROP TABLE `t`":                                              true,
		"INSERT INTO `new_t` SELECT * FROM `t`":                       true,
		"UPDATE `t` SET `p` = 1":                                      true,
		"DELETE FROM `t`":                                             true,
		"PRAGMA foreign_keys = off":                                   true,
		"CREATE TRIGGER x AFTER INSERT ON t BEGIN DELETE FROM p; END": true,
	} {
		if got := migrate.RisksReferences(statement); got != want {
			t.Errorf("%s: %t, want %t", statement, got, want)
		}
	}
}
