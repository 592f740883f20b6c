package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"net/textproto"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// curlMain replaces curl, so that the commands of the manual can be tested on a machine without curl. It knows the
// options that the manual uses and refuses others. It checks addresses as strictly as curl.
func curlMain() {
	var c curlCall
	err := c.parse(os.Args[1:])
	if err == nil {
		err = c.run(os.Stdout)
	}
	var exit curlError
	switch {
	case errors.As(err, &exit):
		fmt.Fprintln(os.Stderr, "curl:", exit.text)
		os.Exit(exit.code)
	case err != nil:
		fmt.Fprintln(os.Stderr, "curl:", err)
		os.Exit(1)
	}
}

// curlError is a failure with curl's own exit status.
type curlError struct {
	code int
	text string
}

func (e curlError) Error() string { return e.text }

// curlCall is a parsed command line of curl.
type curlCall struct {
	method, address, out, dump string
	header                     []string
	data                       []string // of a form, joined by &
	json                       string
	isJSON, inQuery, glob      bool
	form                       []string
	user                       string
	head, include, fail        bool
}

// aliases are the long names of options.
var aliases = map[string]string{
	"--silent": "s", "--show-error": "S", "--fail": "f", "--include": "i", "--head": "I", "--get": "G", "--globoff": "g",
	"--request": "X", "--header": "H", "--data": "d", "--form": "F", "--user": "u", "--output": "o", "--dump-header": "D",
}

func (c *curlCall) parse(args []string) error {
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		next := func() (string, error) {
			if len(args) == 0 {
				return "", curlError{2, "option " + arg + ": requires parameter"}
			}
			value := args[0]
			args = args[1:]
			return value, nil
		}
		var err error
		switch {
		case arg == "--json":
			c.isJSON = true
			c.json, err = next()
		case arg == "--data-urlencode":
			var value string
			value, err = next()
			if name, content, ok := strings.Cut(value, "="); ok && name != "" {
				value = name + "=" + url.QueryEscape(content)
			} else {
				value = url.QueryEscape(strings.TrimPrefix(value, "="))
			}
			c.data = append(c.data, value)
		case strings.HasPrefix(arg, "--"):
			short, ok := aliases[arg]
			if !ok {
				return curlError{2, "option " + arg + ": is unknown to the stand-in"}
			}
			err = c.short(short, next)
		case strings.HasPrefix(arg, "-") && len(arg) > 1:
			for i := 1; i < len(arg) && err == nil; i++ {
				if strings.ContainsRune("XHdFuoD", rune(arg[i])) && i+1 < len(arg) {
					rest := arg[i+1:]
					err = c.short(arg[i:i+1], func() (string, error) { return rest, nil })
					break
				}
				err = c.short(arg[i:i+1], next)
			}
		case c.address != "":
			return curlError{2, "one address is enough for the stand-in"}
		default:
			c.address = arg
		}
		if err != nil {
			return err
		}
	}
	return c.checkAddress()
}

// short applies an option of one letter. The function next returns the value of the option.
func (c *curlCall) short(name string, next func() (string, error)) (err error) {
	value := ""
	switch name {
	case "s", "S":
	case "f":
		c.fail = true
	case "i":
		c.include = true
	case "I":
		c.head = true
	case "G":
		c.inQuery = true
	case "g":
		c.glob = true
	case "X":
		c.method, err = next()
	case "H":
		value, err = next()
		c.header = append(c.header, value)
	case "d":
		value, err = next()
		c.data = append(c.data, value)
	case "F":
		value, err = next()
		c.form = append(c.form, value)
	case "u":
		c.user, err = next()
	case "o":
		c.out, err = next()
	case "D":
		c.dump, err = next()
	default:
		err = curlError{2, "option -" + name + ": is unknown to the stand-in"}
	}
	return err
}

// checkAddress returns an error for an address that curl refuses or treats as a pattern.
func (c *curlCall) checkAddress() error {
	switch {
	case c.address == "":
		return curlError{2, "no URL specified"}
	case strings.ContainsAny(c.address, " \t\r\n"):
		return curlError{3, "URL rejected: Malformed input to a URL function"}
	case !c.glob && strings.ContainsAny(c.address, "[]{}"):
		return curlError{3, "bad range or set in URL: escape it, or say -g"}
	case !strings.HasPrefix(c.address, "http://"):
		return curlError{1, "the stand-in speaks http:// only: " + c.address}
	}
	return nil
}

// request returns the request that the options describe.
func (c *curlCall) request() (*http.Request, error) {
	method := http.MethodGet
	var body io.Reader
	kind := ""
	address := c.address
	form := strings.Join(c.data, "&")
	switch {
	case c.head:
		method = http.MethodHead
	case c.inQuery && form != "":
		between := "?"
		if strings.Contains(address, "?") {
			between = "&"
		}
		address += between + form
	case c.isJSON:
		data, err := contentOf(c.json)
		if err != nil {
			return nil, err
		}
		method, kind, body = http.MethodPost, "application/json", bytes.NewReader(data)
	case len(c.data) > 0:
		data, err := contentOf(form)
		if err != nil {
			return nil, err
		}
		method, kind, body = http.MethodPost, "application/x-www-form-urlencoded", bytes.NewReader(data)
	case len(c.form) > 0:
		data, boundary, err := multipartOf(c.form)
		if err != nil {
			return nil, err
		}
		method, kind, body = http.MethodPost, boundary, bytes.NewReader(data)
	}
	if c.method != "" {
		method = c.method
	}
	r, err := http.NewRequest(method, address, body)
	if err != nil {
		return nil, curlError{3, err.Error()}
	}
	r.Header.Set("User-Agent", "curl/stand-in")
	r.Header.Set("Accept", "*/*")
	if c.isJSON {
		r.Header.Set("Accept", "application/json")
	}
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	if c.user != "" {
		name, password, ok := strings.Cut(c.user, ":")
		if !ok {
			return nil, curlError{2, "-u without a password would ask for one"}
		}
		r.SetBasicAuth(name, password)
	}
	for _, h := range c.header {
		name, value, ok := strings.Cut(h, ":")
		if !ok {
			return nil, curlError{2, "-H " + h + ": no colon"}
		}
		r.Header.Set(name, strings.TrimSpace(value))
	}
	return r, nil
}

// contentOf returns the content of the file if text is @ and a file name. Otherwise it returns text.
func contentOf(text string) ([]byte, error) {
	if name, ok := strings.CutPrefix(text, "@"); ok {
		return os.ReadFile(name)
	}
	return []byte(text), nil
}

// multipartOf returns a multipart form with fields given as name=value or name=@file. The result kind is its
// Content-Type.
func multipartOf(fields []string) (body []byte, kind string, err error) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, field := range fields {
		name, value, _ := strings.Cut(field, "=")
		file, ok := strings.CutPrefix(value, "@")
		if !ok {
			if err := w.WriteField(name, value); err != nil {
				return nil, "", err
			}
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, "", curlError{26, err.Error()}
		}
		part, err := w.CreatePart(textproto.MIMEHeader{
			"Content-Disposition": {fmt.Sprintf("form-data; name=%q; filename=%q", name, filepath.Base(file))},
			"Content-Type":        {"application/octet-stream"},
		})
		if err == nil {
			_, err = part.Write(data)
		}
		if err != nil {
			return nil, "", err
		}
	}
	err = w.Close()
	return b.Bytes(), w.FormDataContentType(), err
}

// run makes the request. The head of the reply is printed as it came.
func (c *curlCall) run(stdout io.Writer) (err error) {
	r, err := c.request()
	if err != nil {
		return err
	}
	conn, err := net.Dial("tcp", r.URL.Host)
	if err != nil {
		return curlError{7, err.Error()}
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if err := r.Write(conn); err != nil {
		return err
	}
	var raw bytes.Buffer
	reply, err := http.ReadResponse(bufio.NewReader(io.TeeReader(conn, &raw)), r)
	if err != nil {
		return curlError{52, err.Error()}
	}
	body, err := io.ReadAll(reply.Body)
	if err := errors.Join(err, reply.Body.Close()); err != nil {
		return err
	}
	head, _, _ := bytes.Cut(raw.Bytes(), []byte("\r\n\r\n"))
	head = append(bytes.Clone(head), "\r\n\r\n"...)
	if c.fail && reply.StatusCode >= 400 {
		return curlError{22, "The requested URL returned error: " + reply.Status}
	}
	if c.dump == "-" || c.include || c.head {
		if _, err := stdout.Write(head); err != nil {
			return err
		}
	} else if c.dump != "" {
		if err := os.WriteFile(c.dump, head, 0o600); err != nil {
			return err
		}
	}
	if c.out != "" {
		return os.WriteFile(c.out, body, 0o600)
	}
	_, err = stdout.Write(body)
	return err
}
