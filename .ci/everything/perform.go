package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"sync"
	"time"
)

// budget is the time that all steps may take on two idle cores. A run that takes longer does not fail.
const budget = 45 * time.Minute

// failure is a failed step, and what it printed.
type failure struct {
	title string
	said  string
}

// perform runs steps until one fails, and returns the exit status.
func (m *machine) perform(ctx context.Context, chosen []step, args []string) int {
	began := time.Now()
	var failed *failure
	var beside []step
	for _, s := range chosen {
		if s.beside {
			beside = append(beside, s)
			continue
		}
		if failed = m.together(ctx, s, beside, args); failed != nil {
			break
		}
		beside = nil
	}
	took := time.Since(began)
	fmt.Printf("\nSeconds of each step:\n%s%6.0f s  in all, of a budget of %.0f s on two idle cores\n",
		m.times.String(), took.Seconds(), budget.Seconds())
	if took > budget {
		fmt.Printf("OVER THE BUDGET by %.0f s.\n", (took - budget).Seconds())
	}
	if failed != nil {
		fmt.Printf("\nFAILED in step: %s\n%s", failed.title, why(failed.said))
		return 1
	}
	fmt.Printf("\nAll steps passed in %.0f s.\n", took.Seconds())
	j := &job{machine: m, ctx: ctx, out: os.Stdout}
	if exists(m.path("counts")) && j.try("go", "run", "./.ci/summary", "-total", m.path("counts")) != nil {
		return 1
	}
	return 0
}

// together runs a step while others run in the background. It prints their output after that of the step.
func (m *machine) together(ctx context.Context, s step, beside []step, args []string) *failure {
	background, stop := context.WithCancel(ctx)
	defer stop()
	var log bytes.Buffer
	var failedBeside *failure
	var group sync.WaitGroup
	group.Go(func() {
		for _, b := range beside {
			if failedBeside == nil {
				failedBeside = m.performOne(b, &job{machine: m, ctx: background, out: &log, nice: true})
			}
		}
	})
	failed := m.performOne(s, &job{machine: m, ctx: ctx, out: os.Stdout, args: args})
	if failed != nil {
		stop()
	}
	group.Wait()
	fmt.Print(log.String())
	return cmp.Or(failed, failedBeside)
}

// performOne runs a step under a heading and says how long it took.
func (m *machine) performOne(s step, j *job) (failed *failure) {
	said := &transcript{to: j.out}
	j.out, j.dir = said, m.root
	began, spent := time.Now(), processorSeconds()
	j.say("\n=== %s", s.title)
	defer func() {
		switch cause := recover().(type) {
		case nil:
		case stopped:
			j.say("%v", cause)
			failed = &failure{s.title, said.text.String()}
		default:
			panic(cause)
		}
		took := time.Since(began).Seconds()
		j.say("--- %s: %.0f s", s.title, took)
		m.mu.Lock()
		defer m.mu.Unlock()
		fmt.Fprintf(&m.times, "%6.0f s %6d CPU s  %s\n", took, processorSeconds()-spent, s.title)
	}()
	s.run(j)
	return nil
}

// transcript keeps a copy of what is written.
type transcript struct {
	mu   sync.Mutex
	to   io.Writer
	text strings.Builder
}

func (t *transcript) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text.Write(p)
	return t.to.Write(p)
}

// processorSeconds returns the seconds that the processors of this machine have worked, for all processes.
func processorSeconds() int {
	stat, _ := os.ReadFile("/proc/stat")                 // other systems than Linux have none
	var user, nice, system, idle, wait, irq, softirq int // hundredths of a second
	_, _ = fmt.Sscanf(string(stat), "cpu %d %d %d %d %d %d %d", &user, &nice, &system, &idle, &wait, &irq, &softirq)
	return (user + nice + system + irq + softirq) / 100
}

// failureLines matches a line about a failure and up to three lines after it.
var failureLines = regexp.MustCompile(`(?m)^(?:.*(?:--- FAIL|BROKEN$|DATA RACE|_test\.go:[0-9]+: )|panic:).*(?:\n.*){0,3}`)

// why returns what a step printed about its failures, or its last lines. It is printed last, because some readers see only
// the end of the output.
func why(said string) string {
	lines := strings.Split(strings.Join(failureLines.FindAllString(said, -1), "\n"), "\n")
	lines = lines[:min(len(lines), 12)]
	if lines[0] == "" {
		lines = strings.Split(strings.TrimSpace(said), "\n")
		lines = lines[max(0, len(lines)-12):]
	}
	var out strings.Builder
	for _, line := range lines {
		fmt.Fprintf(&out, "%.240s\n", line)
	}
	return out.String()
}
