package idempotency

import "time"

// Beat runs one heartbeat at once.
func (k *Keys) Beat() { k.beat() }

// SetClock replaces the clock of the process. Claims compare its times to notice that the process was stopped.
func (k *Keys) SetClock(now func() time.Time) { k.now = now }
