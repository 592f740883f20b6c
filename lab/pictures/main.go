// Command pictures measures the memory of a server on this machine that sends a picture to slow readers, or decodes
// progressive JPEGs at the same time:
//
//	go -C lab run ./pictures -pid PID -readers 200 http://127.0.0.1:8080/media/2026/11/pic.png
//	go -C lab run ./pictures -pid PID -uploads 8 -side 6300 -token TOKEN http://127.0.0.1:8080/cal/events/v1/images
//
// It prints the statuses of the replies, and the memory of the process before and at its peak.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"net/url"
	"os"
	"sync"
	"time"

	"github.com/almanac-cal/almanac/lab/proc"
)

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "pictures:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	set := flag.NewFlagSet("pictures", flag.ContinueOnError)
	pid := set.Int("pid", 0, "process of the server")
	readers := set.Int("readers", 0, "connections that ask for the picture and take nothing of it")
	length := set.Duration("time", 3*time.Second, "how long they wait")
	uploads := set.Int("uploads", 0, "progressive JPEGs to send at the same time")
	side := set.Int("side", 6300, "their width and height in pixels")
	token := set.String("token", "", "token of a user who may upload")
	if err := set.Parse(args); err != nil {
		return err
	}
	if set.NArg() != 1 || *pid == 0 || *readers+*uploads == 0 {
		return errors.New("want -pid, -readers or -uploads, and one address")
	}
	before, err := proc.Read(*pid)
	if err != nil {
		return err
	}
	if err := proc.ResetPeak(*pid); err != nil {
		return err
	}
	var statuses map[int]int
	if *readers > 0 {
		statuses, err = read(ctx, set.Arg(0), *readers, *length)
	} else {
		statuses, err = upload(ctx, set.Arg(0), *token, *uploads, progressive(*side))
	}
	if err != nil {
		return err
	}
	after, err := proc.Read(*pid)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "replies by status %v; memory %.0f MiB before, %.0f MiB at the peak\n",
		statuses, proc.MiB(before.Memory), proc.MiB(after.Peak))
	return err
}

// read opens connections, reads the heads of their replies, and waits.
func read(ctx context.Context, address string, n int, length time.Duration) (statuses map[int]int, err error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	var conns []net.Conn
	defer func() {
		for _, conn := range conns {
			err = errors.Join(err, conn.Close())
		}
	}()
	statuses = make(map[int]int)
	for range n {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", u.Host)
		if err != nil {
			return nil, err
		}
		conns = append(conns, conn)
		if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\n\r\n", u.RequestURI(), u.Host); err != nil {
			return nil, err
		}
		res, err := http.ReadResponse(bufio.NewReaderSize(conn, 16), nil) //nolint:bodyclose // its body is never taken: the connection is closed
		if err != nil {
			return nil, err
		}
		statuses[res.StatusCode]++
	}
	time.Sleep(length)
	return statuses, nil
}

func upload(ctx context.Context, address, token string, n int, data []byte) (map[int]int, error) {
	var (
		wg       sync.WaitGroup
		mu       sync.Mutex
		statuses = map[int]int{}
		errs     []error
	)
	for range n {
		wg.Go(func() {
			status, err := post(ctx, address, token, data)
			mu.Lock()
			defer mu.Unlock()
			statuses[status]++
			errs = append(errs, err)
		})
	}
	wg.Wait()
	return statuses, errors.Join(errs...)
}

func post(ctx context.Context, address, token string, data []byte) (int, error) {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("file", "a.jpg")
	if err != nil {
		return 0, err
	}
	if _, err := part.Write(data); err != nil {
		return 0, err
	}
	if err := form.Close(); err != nil {
		return 0, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, &body)
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", form.FormDataContentType())
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	return res.StatusCode, res.Body.Close()
}

// progressive returns a JPEG with one scan of zero bits: all its coefficients take memory, and hardly any take room in the file.
func progressive(side int) []byte {
	segment := func(out []byte, marker byte, body ...byte) []byte {
		out = append(out, 0xFF, marker)
		out = binary.BigEndian.AppendUint16(out, uint16(len(body)+2))
		return append(out, body...)
	}
	size := binary.BigEndian.AppendUint16(nil, uint16(side))
	out := segment([]byte{0xFF, 0xD8}, 0xDB, append([]byte{0}, bytes.Repeat([]byte{1}, 64)...)...)
	frame := append([]byte{8}, size...)
	frame = append(frame, size...)
	out = segment(out, 0xC2, append(frame, 3, 1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0)...)
	out = segment(out, 0xC4, append([]byte{0, 1}, make([]byte, 16)...)...)
	out = segment(out, 0xDA, 3, 1, 0, 2, 0, 3, 0, 0, 0, 0)
	blocks := (side + 7) / 8 * ((side + 7) / 8) * 3
	return append(append(out, make([]byte, blocks/8+1)...), 0xFF, 0xD9)
}
