package proc

import (
	"os"
	"testing"
	"time"

	"github.com/almanac-cal/almanac/proof/must"
)

func TestCPU(t *testing.T) {
	const rest = " S 1 2 3 4 5 6 7 8 9 10 150 25 0 0 20 0 9 0 100 1000 200\n"
	for _, tt := range []struct {
		name, stat string
		want       time.Duration
		fails      bool
	}{
		{"user and system", "7 (almanac)" + rest, 1750 * time.Millisecond, false},
		{"brackets and spaces in the name", "7 (a) S 1 (b)" + rest, 1750 * time.Millisecond, false},
		{"cut off", "7 (almanac) S 1 2", 0, true},
		{"nothing", "", 0, true},
		{"no number", "7 (x) S 1 2 3 4 5 6 7 8 9 10 a b c", 0, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got, err := cpu([]byte(tt.stat)); got != tt.want || (err != nil) != tt.fails {
				t.Errorf("%s, %v", got, err)
			}
		})
	}
}

func TestMemory(t *testing.T) {
	var u Usage
	must.Succeed(t, memory("Name:\tx\nVmHWM:\t    2048 kB\nVmRSS:\t 1024 kB\nRssAnon:\t     512 kB\n", &u))
	if want := (Usage{Memory: 1 << 20, Anonymous: 512 << 10, Peak: 2 << 20}); u != want {
		t.Errorf("%+v, want %+v", u, want)
	}
	if err := memory("Name:\tx\nVmRSS:\t 1024 kB\n", &u); err == nil {
		t.Error("a status without its sizes was read")
	}
}

func TestReadOfThisProcess(t *testing.T) {
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("no Linux")
	}
	u, err := Read(os.Getpid())
	must.Succeed(t, err)
	if u.Memory <= 0 || u.Anonymous <= 0 || u.Anonymous > u.Memory || u.Peak < u.Memory/2 {
		t.Errorf("%+v", u)
	}
}
