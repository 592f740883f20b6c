package drive

import (
	"errors"
	"runtime"
	"syscall"
	"time"
)

// sleep is time.Sleep without the millisecond that Go's timers are late by when nothing else happens. It may end early.
func sleep(d time.Duration) {
	t := syscall.NsecToTimespec(int64(d))
	if err := syscall.Nanosleep(&t, nil); err != nil && !errors.Is(err, syscall.EINTR) {
		time.Sleep(d)
	}
}

// reduceTimerSlack has the system wake the calling goroutine on time, not up to 50 microseconds later, until it ends.
func reduceTimerSlack() {
	runtime.LockOSThread() // never unlocked: the thread ends with the goroutine, and nobody else gets it
	const setTimerSlack = 29
	// Without it, sleeping is a little less exact.
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, setTimerSlack, 1, 0)
}
