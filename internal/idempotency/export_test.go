package idempotency

import "time"

// Beat makes one heartbeat.
func (k *Keys) Beat() { k.beat() }

// SetClock sets the clock by which the process notices that it was stopped.
func (k *Keys) SetClock(now func() time.Time) { k.now = now }
