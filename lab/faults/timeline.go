package main

import (
	"bytes"
	"fmt"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// timeline records replies and marks during a fault. note does nothing on a nil timeline.
type timeline struct {
	w     *world
	began time.Time

	mu      sync.Mutex
	replies []timedReply
	marks   []timeMark
}

// timedReply is a reply. at is when it came in seconds since the start of the timeline, and took its duration in
// seconds.
type timedReply struct {
	at, took float64
	write    bool
	status   int
}

type timeMark struct {
	at   float64
	what string
}

// startTimeline returns a timeline that records the replies from now on.
func (w *world) startTimeline() *timeline {
	t := &timeline{w: w, began: time.Now()}
	w.timeline.Store(t)
	return t
}

func (t *timeline) note(method string, status int, took time.Duration) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.replies = append(t.replies, timedReply{time.Since(t.began).Seconds(), took.Seconds(), method != http.MethodGet, status})
}

func (t *timeline) mark(what string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.marks = append(t.marks, timeMark{time.Since(t.began).Seconds(), what})
}

// end stops recording and logs the summary. If the flag -timelines names a folder, it writes the files NAME.csv and
// NAME.svg there.
func (t *timeline) end(name string) error {
	t.w.timeline.Store(nil)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.w.say("%s", t.summary())
	if t.w.timelines == "" {
		return nil
	}
	if err := os.MkdirAll(t.w.timelines, 0o755); err != nil {
		return err
	}
	path := filepath.Join(t.w.timelines, name)
	if err := os.WriteFile(path+".csv", t.csv(), 0o644); err != nil {
		return err
	}
	return os.WriteFile(path+".svg", t.svg(), 0o644)
}

// summary describes the longest time without an acknowledged write, the number of refused requests, and the slowest
// read. It also lists the marks.
func (t *timeline) summary() string {
	var last, gap, gapBegan float64
	reads, failedReads, refused := 0, 0, 0
	var slowest float64
	for _, r := range t.replies {
		switch {
		case !r.write:
			reads++
			if r.status >= http.StatusInternalServerError {
				failedReads++
			}
			slowest = max(slowest, r.took)
		case r.status == http.StatusServiceUnavailable:
			refused++
		case r.status < http.StatusBadRequest:
			if r.at-last > gap {
				gap, gapBegan = r.at-last, last
			}
			last = r.at
		}
	}
	text := fmt.Sprintf("timeline: no write acknowledged for %.2f s from %.2f s on, %d writes refused; %d of %d reads refused, the slowest %.2f s",
		gap, gapBegan, refused, failedReads, reads, slowest)
	for _, m := range t.marks {
		text += fmt.Sprintf("; %.2f s: %s", m.at, m.what)
	}
	return text
}

// csv returns the timeline as CSV, with a line for each mark, then one for each reply.
func (t *timeline) csv() []byte {
	var b bytes.Buffer
	fmt.Fprintln(&b, "second,kind,status,took_ms")
	for _, m := range t.marks {
		fmt.Fprintf(&b, "%.3f,mark: %s,,\n", m.at, m.what)
	}
	for _, r := range t.replies {
		kind := "read"
		if r.write {
			kind = "write"
		}
		fmt.Fprintf(&b, "%.3f,%s,%d,%.1f\n", r.at, kind, r.status, r.took*1000)
	}
	return b.Bytes()
}

// svg returns a chart as SVG, with a dot for each reply. Time goes to the right, and the reply's duration upwards,
// from 1 ms to 10 s.
func (t *timeline) svg() []byte {
	const width, row, left, top = 900.0, 150.0, 60.0, 40.0
	var b bytes.Buffer
	end := 1.0
	for _, r := range t.replies {
		end = max(end, r.at)
	}
	x := func(at float64) float64 { return left + at/end*(width-left-20) }
	y := func(write bool, took float64) float64 {
		level := min(max(math.Log10(max(took, 0.001)*1000)/4, 0), 1)
		bottom := top + row
		if write {
			bottom += row + 30
		}
		return bottom - level*row
	}
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %g" font-family="sans-serif" font-size="12">`+"\n",
		width, top+2*row+70)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" fill="white"/>`+"\n")
	for _, write := range []bool{false, true} {
		word := "reads"
		if write {
			word = "writes"
		}
		fmt.Fprintf(&b, `<text x="%g" y="%.1f">%s</text>`+"\n", left, y(write, 10)-4, word)
		for _, level := range []struct {
			took float64
			text string
		}{{0.001, "1 ms"}, {0.01, "10 ms"}, {0.1, "0.1 s"}, {1, "1 s"}, {10, "10 s"}} {
			at := y(write, level.took)
			fmt.Fprintf(&b, `<line x1="%g" x2="%g" y1="%.1f" y2="%.1f" stroke="#ddd"/><text x="%g" y="%.1f" text-anchor="end">%s</text>`+"\n",
				left, width-20, at, at, left-6, at+4, level.text)
		}
	}
	bottom := y(true, 0.001)
	step := math.Ceil(end / 12)
	for at := 0.0; at <= end; at += step {
		fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" text-anchor="middle">%g s</text>`+"\n", x(at), bottom+16, at)
	}
	for i, m := range t.marks {
		fmt.Fprintf(&b, `<line x1="%.1f" x2="%.1f" y1="%g" y2="%.1f" stroke="black" stroke-dasharray="4"/><text x="%.1f" y="%g">%s</text>`+"\n",
			x(m.at), x(m.at), top-12, bottom, x(m.at)+4, 12+float64(i)*12, m.what)
	}
	for _, r := range t.replies {
		color := "#2a7"
		if r.status >= http.StatusInternalServerError {
			color = "#d22"
		}
		fmt.Fprintf(&b, `<circle cx="%.1f" cy="%.1f" r="2" fill="%s" fill-opacity=".5"/>`+"\n", x(r.at), y(r.write, r.took), color)
	}
	fmt.Fprintf(&b, `<text x="%g" y="%.1f">a dot is a reply: green 2xx to 4xx, red 503</text>`+"\n</svg>\n", left, bottom+36)
	return b.Bytes()
}
