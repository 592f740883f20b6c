package calendar

import "strings"

var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// Escape escapes plain text for use between HTML tags (contract, section 6.1). It does not escape quotes, so
// the result is not safe in an attribute.
func Escape(s string) string { return escaper.Replace(s) }
