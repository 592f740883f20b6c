// Command load asks one URL over and over with a fixed number of clients, each waiting for its reply before it
// asks again, and prints the rate and the latencies:
//
//	go run ./bench/load -clients 8 -time 10s http://127.0.0.1:8080/cal/events/v1/events
//
// A closed loop measures throughput; its latencies are those of a service that is exactly saturated.
package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/valyala/fasthttp"
)

func main() {
	clients := flag.Int("clients", 8, "clients at once")
	length := flag.Duration("time", 10*time.Second, "how long to measure")
	token := flag.String("token", "", "access token to send")
	flag.Parse()
	if flag.NArg() != 1 || *clients < 1 {
		fmt.Fprintln(os.Stderr, "usage: load [-clients N] [-time D] [-token T] URL")
		os.Exit(2)
	}
	// The first second warms up and is not counted.
	if _, _, err := run(flag.Arg(0), *token, *clients, time.Second); err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
	took, bytes, err := run(flag.Arg(0), *token, *clients, *length)
	if err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
	slices.Sort(took)
	at := func(q float64) time.Duration { return took[int(float64(len(took)-1)*q)].Round(time.Microsecond) }
	fmt.Printf("%d clients, %s: %.0f requests/s, p50 %s, p99 %s, max %s, %d bytes a reply\n",
		*clients, *length, float64(len(took))/length.Seconds(), at(0.5), at(0.99), at(1), bytes)
}

// run asks until the time is over and returns how long each request took. Any status but 200 is an error.
func run(url, token string, clients int, length time.Duration) (took []time.Duration, bytes int, err error) {
	http := &fasthttp.Client{MaxConnsPerHost: clients}
	end := time.Now().Add(length)
	var group sync.WaitGroup
	var lock sync.Mutex
	for range clients {
		group.Go(func() {
			mine, size, failed := one(http, url, token, end)
			lock.Lock()
			defer lock.Unlock()
			took, bytes = append(took, mine...), max(bytes, size)
			if failed != nil {
				err = failed
			}
		})
	}
	group.Wait()
	return took, bytes, err
}

// one is a single client.
func one(http *fasthttp.Client, url, token string, end time.Time) (took []time.Duration, size int, err error) {
	req, res := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(req)
	defer fasthttp.ReleaseResponse(res)
	req.SetRequestURI(url)
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	for time.Now().Before(end) {
		began := time.Now()
		if err := http.Do(req, res); err != nil {
			return took, size, err
		}
		took = append(took, time.Since(began))
		if res.StatusCode() != fasthttp.StatusOK {
			return took, size, fmt.Errorf("status %d: %s", res.StatusCode(), res.Body())
		}
		size = len(res.Body())
	}
	return took, size, nil
}
