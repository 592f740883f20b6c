package server

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/almanac-cal/almanac/internal/jsonwrite"
	"github.com/almanac-cal/almanac/internal/limit"
)

// limitConnections wraps a listener so that it enforces the limits on connections and on unsent or unanswered
// bytes.
func (s *Server) limitConnections(ln net.Listener) *limit.Listener {
	return &limit.Listener{
		Listener: ln, Most: s.Connections, MostPerAddress: s.ConnectionsByAddress, MostSending: s.Sending, MostReceiving: s.Receiving, MostReceivingPerAddress: max(s.Receiving/4, LeastReceiving),
		Exempt: func(a netip.Addr) bool { return limit.Near(a) || s.Proxies.Trusted(a) },
		Refuse: s.refuseConnection,
	}
}

// refuseConnection replies to a connection that exceeds a limit. The reply is in the language of the site, since
// the client has sent nothing yet.
func (s *Server) refuseConnection(c net.Conn, why limit.Reason) {
	f := errorReply{status: http.StatusServiceUnavailable, code: "rest_unavailable"}
	if why == limit.TooManyFromAddress {
		f = errorReply{status: http.StatusTooManyRequests, code: "rest_too_many_requests"}
	}
	lang := s.newest.Load().Site.Language
	f.message = s.Words.Message(lang, f.code, nil)
	s.Metrics.countRefusedConnection(why)
	body, err := jsonwrite.Encode(f.body())
	if err == nil {
		err = c.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
	}
	if err == nil {
		_, err = fmt.Fprintf(c, "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %d\r\nContent-Language: %s\r\n"+
			"Cache-Control: "+noStore+"\r\nX-Content-Type-Options: nosniff\r\nAccess-Control-Allow-Origin: *\r\nRetry-After: 1\r\nConnection: close\r\n\r\n%s",
			f.status, http.StatusText(f.status), typeJSON, len(body), lang, body)
	}
	if err != nil {
		s.Log.Debug("refused connection", "reason", why, "error", err)
	}
}
