package drive

import (
	"errors"
	"runtime"
	"syscall"
	"time"
)

// sleep pauses for d, more exactly than time.Sleep. In an idle process, Go's timers are up to a millisecond late. It
// may return early.
func sleep(d time.Duration) {
	t := syscall.NsecToTimespec(int64(d))
	if err := syscall.Nanosleep(&t, nil); err != nil && !errors.Is(err, syscall.EINTR) {
		time.Sleep(d)
	}
}

// reduceTimerSlack makes the kernel wake the calling goroutine on time, instead of up to 50 microseconds late. It
// locks the goroutine to its thread until the goroutine ends. Errors are ignored.
func reduceTimerSlack() {
	runtime.LockOSThread() // never unlocked: the thread ends with the goroutine, and no other goroutine gets it
	const setTimerSlack = 29
	// Without it, sleeping is a little less exact.
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, setTimerSlack, 1, 0)
}
