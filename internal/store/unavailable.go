package store

import (
	"database/sql/driver"
	"errors"

	"github.com/go-sql-driver/mysql"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// errNoConnection is wrapped by errors about a connection to a server that cannot be established.
var errNoConnection = errors.New("no connection to the database")

// IsUnavailable reports whether err is a temporary failure of the database: the server stops, rejects
// connections or writes, has no space, or another process held a lock for too long. Faulty statements and rows
// do not count. Errors of an open connection come from the driver, and IsUnavailable does not recognise them.
func IsUnavailable(err error) bool {
	if errors.Is(err, ErrConflict) || errors.Is(err, ErrFilesReplaced) || errors.Is(err, errNoConnection) ||
		errors.Is(err, errReadOnly) {
		return true
	}
	if my, ok := errors.AsType[*mysql.MySQLError](err); ok {
		return unavailableMySQL[my.Number] || refusedWrites[my.Number] || retryableTiDB[my.Number]
	}
	if lite, ok := errors.AsType[*sqlite.Error](err); ok {
		switch lite.Code() & 0xff {
		case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL, // other writers
			sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_NOMEM, // no space, quota exceeded, or disk failure
			sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN: // temporarily mounted read-only, or not mounted
			return true
		}
	}
	return false
}

// isWriteRefused reports whether a server rejected a write because it is read-only or outside the majority of
// its group. Another server may accept it.
func isWriteRefused(err error) bool {
	var my *mysql.MySQLError
	return errors.As(err, &my) && refusedWrites[my.Number]
}

var refusedWrites = map[uint16]bool{
	1047: true, // the node is not ready (Galera)
	1290: true, // read-only
	1792: true, // the transaction is read-only
	1836: true, // the server is read-only
	3098: true, // Group Replication rejects the table or the moment
	3100: true, // Group Replication failed before the commit
	3101: true, // Group Replication rolled the transaction back
}

// isServerLost reports whether the server of a statement is lost or read-only. The statement had no effect,
// unless it was a commit.
func isServerLost(err error) bool {
	return isWriteRefused(err) || errors.Is(err, mysql.ErrInvalidConn) || errors.Is(err, driver.ErrBadConn)
}

// unavailableMySQL are error numbers of MySQL, MariaDB, TiDB and proxies for which IsUnavailable is true. The
// others are in refusedWrites and retryableTiDB.
var unavailableMySQL = map[uint16]bool{
	1021: true, // disk full
	1030: true, // the storage engine has no space, or the disk failed
	1037: true, // out of memory
	1038: true, // out of memory to sort
	1040: true, // too many connections
	1041: true, // out of resources
	1042: true, // the server cannot resolve the name of this host
	1043: true, // bad handshake, for example from a proxy whose server is down
	1045: true, // access denied, for example while a password is rotated
	1053: true, // shutdown in progress
	1077: true, // normal shutdown
	1079: true, // shutdown complete
	1114: true, // the table is full, because the disk is full
	1129: true, // this host is blocked after many failed connections
	1135: true, // the server cannot create a thread for the connection
	1152: true, // connection aborted
	1158: true, // network error while reading
	1159: true, // network timeout while reading
	1160: true, // network error while writing
	1161: true, // network timeout while writing
	1184: true, // new connection aborted
	1203: true, // too many connections of this user
	1205: true, // lock wait timeout
	1213: true, // deadlock
	1223: true, // another connection holds a read lock
	1226: true, // the user has reached a resource limit
	1317: true, // query interrupted
	1927: true, // connection killed (MariaDB)
	1969: true, // the statement took longer than the server allows (MariaDB)
	3024: true, // the statement took longer than the server allows
	3169: true, // session killed
	4031: true, // the server closed an idle connection
	8175: true, // TiDB: the statement exceeds the memory limit
	9001: true, // TiDB has no placement, or ProxySQL no connection
	9002: true, // TiDB: the storage did not answer
	9003: true, // TiDB: the storage is busy
	9005: true, // TiDB: a region is unavailable
}
