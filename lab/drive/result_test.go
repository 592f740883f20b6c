package drive

import (
	"bufio"
	"bytes"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const ms = time.Millisecond

func TestTimes(t *testing.T) {
	hundred := make(Times, 100)
	for i := range hundred {
		hundred[i] = time.Duration(i+1) * ms
	}
	for _, tt := range []struct {
		name  string
		times Times
		share float64
		want  time.Duration
	}{
		{"none", nil, 0.5, 0},
		{"one", Times{ms}, 0.99, ms},
		{"least", hundred, 0, ms},
		{"half", hundred, 0.5, 50 * ms},
		{"of an odd number the one in the middle", hundred[:3], 0.5, 2 * ms},
		{"99 of a hundred", hundred, 0.99, 99 * ms},
		{"999 of a thousand in a hundred", hundred, 0.999, 100 * ms},
		{"most", hundred, 1, 100 * ms},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.times.At(tt.share); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

// TestResult checks what a Result counts, from samples with given times.
func TestResult(t *testing.T) {
	good := func(due, told, sent, done time.Duration) Sample {
		return Sample{Due: due * ms, Told: told * ms, Sent: sent * ms, Done: done * ms, Status: 200}
	}
	samples := []Sample{
		good(50, 50, 50, 60),     // of the warm-up
		good(99, 99, 99, 105),    // of the warm-up, replied to while it is measured
		good(100, 100, 100, 102), // the first
		good(110, 110, 130, 132), // no connection was free
		good(160, 163, 163, 164), // the generator was late
		good(199, 199, 199, 250), // replied to afterwards
		good(200, 200, 200, 202), // due afterwards
		{Due: 170 * ms, Told: 170 * ms, Sent: 170 * ms, Done: 171 * ms, Status: 503},
		{Due: 180 * ms, Told: 180 * ms, Sent: 180 * ms, Done: 181 * ms, Fault: Closed},
		{Due: 190 * ms, Told: 190 * ms, Fault: Unsent},
	}
	var got Result
	got.Length = 100 * ms
	for _, s := range samples {
		got.add(s, 100*ms, 200*ms)
	}
	got.sort()
	want := Result{
		Length: 100 * ms, All: 8, Due: 7, Done: 4, Status: map[int]int{200: 4, 503: 1},
		Faults: map[Fault]int{Closed: 1, Unsent: 1}, Late: 1, LateMax: 3 * ms, Waited: 1,
		Took: Times{2 * ms, 4 * ms, 22 * ms, 51 * ms}, Served: Times{ms, 2 * ms, 2 * ms, 51 * ms},
		Halves: [2]Took{{Times{2 * ms, 22 * ms}, Times{2 * ms, 2 * ms}}, {Times{4 * ms, 51 * ms}, Times{ms, 51 * ms}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got.Rate() != 40 || got.Bad() != 3 || got.Errors() != "503: 1, closed: 1, unsent: 1" {
		t.Errorf("rate %v, %d bad, errors %q", got.Rate(), got.Bad(), got.Errors())
	}
	twice := Result{}
	twice.Merge(&got)
	twice.Merge(&got)
	if twice.Rate() != 40 || twice.Bad() != 6 || len(twice.Took) != 8 || twice.Took.At(0.5) != 4*ms {
		t.Errorf("twice: rate %v, %d bad, %v", twice.Rate(), twice.Bad(), twice.Took)
	}
}

// FuzzReply compares the parser of replies with the standard library's. Replies that both read must have the same
// status, and nothing may panic.
func FuzzReply(f *testing.F) {
	for _, seed := range []string{
		okReply, "HTTP/1.1 204 No Content\r\n\r\n", "HTTP/1.0 200 OK\r\n\r\nto the end", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", "HTTP/1.1 20\r\n\r\n", "HTTP/1.1 100 \r\n\r\n" + okReply,
		"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffff\r\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c := conn{r: bufio.NewReaderSize(bytes.NewReader(data), readSize)}
		status, last, err := c.read(true)
		if err == nil && (status < 200 || status > 999) {
			t.Errorf("status %d", status)
		}
		if err != nil && !last {
			t.Error("a connection is used again after an error")
		}
		skip := conn{r: bufio.NewReaderSize(bytes.NewReader(data), readSize)}
		other, _, otherErr := skip.read(false)
		if (err == nil) != (otherErr == nil) || other != status {
			t.Errorf("read: %d, %v; skipped: %d, %v", status, err, other, otherErr)
		}
		theirs, theirErr := http.ReadResponse(bufio.NewReader(bytes.NewReader(data)), nil)
		if theirErr != nil || err != nil || theirs.StatusCode < 200 {
			return
		}
		defer theirs.Body.Close()
		if theirs.StatusCode != status {
			t.Errorf("status %d, theirs %d", status, theirs.StatusCode)
		}
	})
}

func TestMedian(t *testing.T) {
	for want, values := range map[int][]int{0: nil, 3: {3}, 1: {2, 1}, 2: {3, 1, 2}} {
		if got := Median(values); got != want {
			t.Errorf("%v: %d, want %d", values, got, want)
		}
	}
}
