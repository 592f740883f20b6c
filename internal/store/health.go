package store

import "context"

// Reach returns nil if the database answers a query. It needs no table.
func (s *Store) Reach(ctx context.Context) error {
	var one int
	return s.DB.QueryRowContext(ctx, "SELECT 1").Scan(&one)
}
