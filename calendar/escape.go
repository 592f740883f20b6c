package calendar

import "strings"

var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// Escape makes plain text safe between HTML tags (contract, section 6.1). Quotes stay as they are, so the
// result does not belong inside an attribute.
func Escape(s string) string { return escaper.Replace(s) }
