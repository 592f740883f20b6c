package server

import (
	"errors"
	"time"

	"github.com/almanac-cal/almanac/calendar"
)

// refusedError is the error of a request that the server does not work on.
type refusedError struct {
	error
	retry  time.Duration // in Retry-After; 0 means that the code decides
	reason string        // in metrics
	status int           // 0 means that of the code
}

func (e *refusedError) Unwrap() error { return e.error }

// Reasons to refuse a request.
const (
	reasonBusy      = "busy"
	reasonLarge     = "large"
	reasonMedia     = "media"
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
	reasonBusy, reasonLarge, reasonMedia, reasonSending, reasonReceiving, reasonAddress, reasonToken, reasonFailures, reasonSlow, reasonTooLarge, reasonParse,
	reasonKey,
}

// refusalReason returns why a request was refused, and "" if it was not.
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
