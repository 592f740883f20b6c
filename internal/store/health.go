package store

import "context"

// Reach returns nil if the database answers a query, and the error of the query otherwise. It works before the first
// migration, because the query reads no table.
func (s *Store) Reach(ctx context.Context) error {
	var one int
	return s.DB.QueryRowContext(ctx, "SELECT 1").Scan(&one)
}
