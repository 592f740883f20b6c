package handlers_test

// The records of the example. Paths of requests name them in braces: "/events/{jazzNight}".
const (
	morningSong  = 1
	eveningSong  = 2
	choir        = 3
	organHour    = 4
	openStage    = 5
	cityRun      = 6
	longGone     = 7
	hiddenEvent  = 8
	jazzNight    = 15
	minimalEvent = 16
	musicWalk    = 17
	museumNight  = 18
	jazzFestival = 19
	secretPlans  = 20
	trashedEvent = 21
	membersOnly  = 22

	grandHall = 10
	bareVenue = 11

	alice = 12
	bob   = 13

	poster = 14

	music         = 2
	jazz          = 3
	freeEntry     = 4
	sport         = 5
	emptyCategory = 6
)
