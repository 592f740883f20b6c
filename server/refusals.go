package server

import (
	"errors"
	"time"

	"github.com/almanac-cal/almanac/calendar"
)

// refusedError is the error of a request that the server refuses, usually before it works on the request.
type refusedError struct {
	error
	// retry is the value of Retry-After. 0 means that the HTTP status decides.
	retry  time.Duration
	reason string // label of the refusal in metrics
	status int    // HTTP status; 0 means that of the error code
}

func (e *refusedError) Unwrap() error { return e.error }

// reasonBusy to reasonKey are the reasons to refuse a request. They are labels in metrics.
const (
	reasonBusy      = "busy"
	reasonLarge     = "large"
	reasonMedia     = "media"
	reasonSeries    = "series"
	reasonSending   = "sending"
	reasonReceiving = "receiving"
	reasonAddress   = "rate_address"
	reasonToken     = "rate_token"
	reasonFailures  = "rate_failures"
	reasonSlow      = "slow_client"
	reasonTooLarge  = "too_large"
	reasonParse     = "malformed"
	reasonKey       = "key_in_use"
)

var refusalReasons = []string{
	reasonBusy, reasonLarge, reasonMedia, reasonSeries, reasonSending, reasonReceiving, reasonAddress, reasonToken, reasonFailures, reasonSlow, reasonTooLarge, reasonParse,
	reasonKey,
}

// refusalReason returns the reason why a request was refused, or "" if it was not refused.
func refusalReason(err error) string {
	var refused *refusedError
	if errors.As(err, &refused) {
		return refused.reason
	}
	return ""
}

var (
	errBusy    = &calendar.Error{Code: "rest_unavailable", Key: "rest_unavailable"}
	errTooMany = &calendar.Error{Code: "rest_too_many_requests", Key: "rest_too_many_requests"}
	errLarge   = &calendar.Error{Code: "rest_request_too_large", Key: "rest_request_too_large"}
)
