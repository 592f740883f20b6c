package store

import (
	"database/sql/driver"
	"errors"

	"github.com/go-sql-driver/mysql"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// errNoConnection is returned when no connection to a server comes about.
var errNoConnection = errors.New("no connection to the database")

// IsUnavailable reports whether err is a temporary failure of the database: the server stops, refuses
// connections or writes, has no space, or another process held a lock for too long. Faults of a statement or of
// rows do not count. Errors of an open connection come from the driver, and IsUnavailable does not know them.
func IsUnavailable(err error) bool {
	if errors.Is(err, ErrConflict) || errors.Is(err, ErrFilesReplaced) || errors.Is(err, errNoConnection) ||
		errors.Is(err, errReadOnly) {
		return true
	}
	var my *mysql.MySQLError
	if errors.As(err, &my) {
		return unavailableMySQL[my.Number] || refusedWrites[my.Number] || retryableTiDB[my.Number]
	}
	var lite *sqlite.Error
	if errors.As(err, &lite) {
		switch lite.Code() & 0xff {
		case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL, // other writers
			sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_NOMEM, // no room, a quota, a disk
			sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN: // mounted read-only, or not mounted, for the moment
			return true
		}
	}
	return false
}

// isWriteRefused reports whether a server has answered that it takes no writes, and another one may: it was the primary, or
// belongs to no majority of its group.
func isWriteRefused(err error) bool {
	var my *mysql.MySQLError
	return errors.As(err, &my) && refusedWrites[my.Number]
}

var refusedWrites = map[uint16]bool{
	1047: true, // the node is not ready (Galera)
	1290: true, // read-only
	1792: true, // the transaction is read-only
	1836: true, // the server is read-only
	3098: true, // Group Replication refuses the table or the moment
	3100: true, // Group Replication failed before the commit
	3101: true, // Group Replication rolled the transaction back
}

// isServerLost reports whether the server of a statement is gone or takes no writes. The statement has no effect unless it
// was a commit.
func isServerLost(err error) bool {
	return isWriteRefused(err) || errors.Is(err, mysql.ErrInvalidConn) || errors.Is(err, driver.ErrBadConn)
}

// unavailableMySQL are the errors of MySQL, MariaDB, TiDB and proxies for which IsUnavailable is true.
var unavailableMySQL = map[uint16]bool{
	1021: true, // disk full
	1030: true, // the storage engine has no room, or no disk
	1037: true, // out of memory
	1038: true, // out of memory to sort
	1040: true, // too many connections
	1041: true, // out of resources
	1042: true, // the name of this host cannot be resolved
	1043: true, // bad handshake, as by a proxy whose server is down
	1045: true, // access denied: a password that is being rotated
	1053: true, // shutdown in progress
	1077: true, // normal shutdown
	1079: true, // shutdown complete
	1114: true, // the table is full, because the disk is
	1129: true, // this host is blocked
	1135: true, // no thread for the connection
	1152: true, // connection aborted
	1158: true, // network: reading
	1159: true, // network: reading took too long
	1160: true, // network: writing
	1161: true, // network: writing took too long
	1184: true, // new connection aborted
	1203: true, // too many connections of this user
	1205: true, // lock wait timeout
	1213: true, // deadlock
	1223: true, // another connection has a read lock
	1226: true, // the user has reached a limit of resources
	1317: true, // query interrupted
	1927: true, // connection killed (MariaDB)
	1969: true, // the statement took longer than the server allows (MariaDB)
	3024: true, // the statement took longer than the server allows
	3169: true, // session killed
	4031: true, // disconnected for being idle
	8175: true, // TiDB: the statement needs more memory than the server gives
	9001: true, // TiDB: no placement; ProxySQL: no connection
	9002: true, // TiDB: storage did not answer
	9003: true, // TiDB: storage is busy
	9005: true, // TiDB: region unavailable
}
