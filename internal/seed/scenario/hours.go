package scenario

// adaptHours adapts the times at which events of a kind begin to the customs of the first city's country.
func (c *Calendar) adaptHours(k *eventKind) {
	for i := range k.starts {
		if s := &k.starts[i]; !s.dusk && !s.dark {
			s.minute = c.localHour(k, s.minute)
		}
	}
}

// lunchFrom and lunchUntil are the limits of lunchtime in Spain, in minutes after midnight.
const (
	lunchFrom  = 14 * 60
	lunchUntil = 17 * 60
)

// localHour adapts the start of an event to the customs of the first city's country. minute is the usual start
// elsewhere, and both are minutes after midnight. In Spanish-speaking countries evening events with doors begin at
// half past seven or later. In Spain events of up to four hours avoid lunchtime.
func (c *Calendar) localHour(k *eventKind, minute int) int {
	country := c.cities[0].country.code
	last := k.Lasts[1]
	if k.Doors && isSpanishSpeaking(country) && minute >= lunchUntil && minute < 20*60 {
		switch {
		case minute < 18*60+30:
			return 19*60 + 30
		case minute < 19*60+30:
			return 20 * 60
		}
		return 20*60 + 30
	}
	if country != "ES" || last > 4*60 {
		return minute
	}
	switch {
	case k.Role == closingRole && minute >= lunchUntil && minute < 19*60:
		return 19 * 60
	case minute < lunchFrom && minute+last > lunchFrom+15:
		if before := (lunchFrom - last) / 15 * 15; before >= 10*60 {
			return before
		}
		return lunchUntil
	case minute >= lunchFrom-15 && minute < 15*60:
		return minute + 210
	case minute >= 15*60 && minute < 16*60:
		return minute + 180
	case minute >= 16*60 && minute < lunchUntil:
		return minute + 60
	}
	return minute
}

func isSpanishSpeaking(country string) bool {
	switch country {
	case "ES", "MX", "AR", "CO", "CL", "PE", "UY", "EC":
		return true
	}
	return false
}
