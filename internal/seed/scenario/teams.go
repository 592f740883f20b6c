package scenario

type team struct{ name string }

// team returns the home team of a match, or the away team if home is false. The number match is below
// Calendar.size(placeholderMatch).
func (c *Calendar) team(match int, home bool) team {
	others := len(c.teams) - 1
	if home {
		return c.teams[match/others]
	}
	return c.teams[(match/others+1+match%others)%len(c.teams)]
}
