//go:build !linux

package drive

import "time"

func sleep(d time.Duration) { time.Sleep(d) }

func reduceTimerSlack() {}
