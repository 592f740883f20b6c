package scenario

type team struct{ name string }

// team returns the home or the away team of a match.
func (c *Calendar) team(match int, home bool) team {
	others := len(c.teams) - 1
	if home {
		return c.teams[match/others]
	}
	return c.teams[(match/others+1+match%others)%len(c.teams)]
}
