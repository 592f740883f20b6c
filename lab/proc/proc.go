// Package proc reads the CPU time and memory of a process on this machine. It needs Linux.
package proc

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of CPU times in /proc, on all usual Linux systems.
const tick = 10 * time.Millisecond

// Usage is the CPU time and memory that a process has used.
type Usage struct {
	CPU       time.Duration // CPU time of all its threads since it began
	Memory    int64         // bytes in memory, including shared ones
	Anonymous int64         // bytes of these that do not belong to mapped files
	Peak      int64         // largest number of bytes in memory, since it began or since ResetPeak
}

// MiB converts bytes to MiB.
func MiB(bytes int64) float64 { return float64(bytes) / (1 << 20) }

func file(pid int, name string) string { return "/proc/" + strconv.Itoa(pid) + "/" + name }

// Read returns the usage of a process, from /proc (Linux only).
func Read(pid int) (Usage, error) {
	stat, err := os.ReadFile(file(pid, "stat"))
	if err != nil {
		return Usage{}, err
	}
	var u Usage
	if u.CPU, err = cpu(stat); err != nil {
		return Usage{}, err
	}
	status, err := os.ReadFile(file(pid, "status"))
	if err != nil {
		return Usage{}, err
	}
	err = memory(string(status), &u)
	return u, err
}

// cpu parses the CPU time in /proc/PID/stat. The process name in parentheses may contain any characters.
func cpu(stat []byte) (time.Duration, error) {
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	const user, system = 11, 12 // from the state on
	if len(fields) <= system {
		return 0, fmt.Errorf("%.80q is no /proc/PID/stat", stat)
	}
	var ticks int64
	for _, f := range fields[user : system+1] {
		n, err := strconv.ParseInt(string(f), 10, 64)
		if err != nil {
			return 0, fmt.Errorf("/proc/PID/stat: %w", err)
		}
		ticks += n
	}
	return time.Duration(ticks) * tick, nil
}

// memory parses the text of /proc/PID/status into u. A missing size is an error.
func memory(status string, u *Usage) error {
	found := 0
	for line := range strings.Lines(status) {
		name, value, _ := strings.Cut(line, ":")
		into := map[string]*int64{"VmRSS": &u.Memory, "RssAnon": &u.Anonymous, "VmHWM": &u.Peak}[name]
		if into == nil {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "kB")), 10, 64)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		*into = n << 10
		found++
	}
	if found < 3 {
		return fmt.Errorf("/proc/PID/status tells %d of the 3 sizes", found)
	}
	return nil
}

// ResetPeak resets the peak memory of a process, so that Usage.Peak counts from now on.
func ResetPeak(pid int) error {
	return os.WriteFile(file(pid, "clear_refs"), []byte("5"), 0)
}

// Load returns the machine's load average over the last minute as text, or "unknown". Measurements on a busy machine
// are unreliable.
func Load() string {
	data, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	load, _, _ := strings.Cut(string(data), " ")
	return load
}
