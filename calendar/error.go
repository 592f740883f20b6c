package calendar

import "fmt"

// Error is a refusal that the client sees. Code is an error code (contract, section 16) and fixes the HTTP
// status. Key names the message in the catalogues and Args fills it. Data are further members of the body's
// "data". Err is the cause for the log; clients never see it.
type Error struct {
	Code string
	Key  string
	Args map[string]any
	Data map[string]any
	Err  error
}

func (e *Error) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("%s: %v", e.Code, e.Err)
	}
	return e.Code
}

func (e *Error) Unwrap() error { return e.Err }
