package media

import "errors"

// spoolPart is the size of a piece of a spool, in bytes.
const spoolPart = 64 << 10

var errSpoolFull = errors.New("file gets too large")

// spool collects a file in pieces. A growing slice would need twice the memory at times.
type spool struct {
	most  int // largest size in bytes
	size  int
	parts [][]byte
}

// Write implements io.Writer. It returns errSpoolFull if the file would exceed most bytes.
func (s *spool) Write(p []byte) (int, error) {
	if len(p) > s.most-s.size {
		return 0, errSpoolFull
	}
	s.size += len(p)
	for rest := p; len(rest) > 0; {
		last := len(s.parts) - 1
		if last < 0 || len(s.parts[last]) == spoolPart {
			s.parts = append(s.parts, make([]byte, 0, spoolPart))
			last++
		}
		n := min(len(rest), spoolPart-len(s.parts[last]))
		s.parts[last] = append(s.parts[last], rest[:n]...)
		rest = rest[n:]
	}
	return len(p), nil
}

// join returns the collected bytes, with more inserted after the first bytes. first is at most the size of a
// piece.
func (s *spool) join(first int, more []byte) []byte {
	out := make([]byte, 0, s.size+len(more))
	for i, part := range s.parts {
		if i > 0 {
			out = append(out, part...)
			continue
		}
		out = append(out, part[:first]...)
		out = append(out, more...)
		out = append(out, part[first:]...)
	}
	return out
}
