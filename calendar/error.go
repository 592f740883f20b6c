package calendar

import (
	"fmt"
	"time"
)

// Error is an error that the client receives. Code is an error code (contract, section 16) and determines the
// HTTP status. Key is the key of the message in the catalogues, and Args are its arguments. Data are further
// members of "data" in the body. Retry is the time after which the same request can succeed; 0 means that it is
// unknown. Err is the cause for the log; clients never receive it.
type Error struct {
	Code  string
	Key   string
	Args  map[string]any
	Data  map[string]any
	Retry time.Duration
	Err   error
}

func (e *Error) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("%s: %v", e.Code, e.Err)
	}
	return e.Code
}

func (e *Error) Unwrap() error { return e.Err }
