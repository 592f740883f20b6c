package idempotency

import "time"

// Beat runs one heartbeat at once.
func (k *Keys) Beat() { k.beat() }

// SetClock sets the clock of the process. With it the process notices that it was stopped for a time.
func (k *Keys) SetClock(now func() time.Time) { k.now = now }
