package handlers_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// general are the rights that need no record. Each cell is the HTTP status, with the status of what was created.
const general = `
create an event          401 403 201,draft   201,publish 201,publish 201,publish
create a venue           401 403 201,draft   201,publish 201,publish 201,publish
create an organizer      401 403 201,draft   201,publish 201,publish 201,publish
publish an event         401 403 201,pending 201,publish 201,publish 201,publish
publish a venue          401 403 201,pending 201,publish 201,publish 201,publish
publish an organizer     401 403 201,pending 201,publish 201,publish 201,publish
create a private event   401 403 201,pending 201,private 201,private 201,private
schedule a venue         401 403 201,pending 201,future  201,future  201,future
create a pending venue   401 403 201,pending 201,pending 201,pending 201,pending
create for another       401 403 403         403         201         201
create a venue of another 401 403 403        403         201         201
create for oneself       401 403 201         201         201         201
create a category        401 403 403         201         201         201
create a tag             401 403 403         201         201         201
edit a category          401 403 403         200         200         200
edit a tag               401 403 403         200         200         200
delete a category        401 403 403         200         200         200
delete a tag             401 403 403         200         200         200
name a new category      401 403 400         201         201         201
name a new tag           401 403 400         201         201         201
name an old category     401 403 201         201         201         201
create an inline venue   401 403 201         201         201         201
upload an image          401 403 403         201         201         201
upload by address        401 403 403         201         201         201
send an image by address 401 403 400         201         201         201
send an image by id      401 403 201         201         201         201
list images              401 403 403         200         200         200
read an image            200 200 200         200         200         200
delete own image         401 403 403         200         200         200
delete another's image   401 403 403         403         200         200
delete an unknown image  401 403 403         404         404         404
list events              200 200 200         200         200         200
list venues              200 200 200         200         200         200
list organizers          200 200 200         200         200         200
list categories          200 200 200         200         200         200
list tags                200 200 200         200         200         200
read a category          200 200 200         200         200         200
read a tag               200 200 200         200         200         200
read the index           200 200 200         200         200         200
update an unknown event  401 403 404         404         404         404
delete an unknown event  401 403 404         404         404         404
update an event by an unknown slug 401 403 404 404       404         404
delete an event by an unknown slug 400 400 400 400       400         400
update a venue as an event 401 403 400       400         400         400
delete a venue as an event 401 403 400       400         400         400
update an unknown venue  400 400 400         400         400         400
delete an unknown venue  400 400 400         400         400         400
update a venue by an unknown slug 400 400 400 400        400         400
delete an unknown organizer 400 400 400      400         400         400
update an unknown category 400 400 400       400         400         400
delete an unknown tag    400 400 400         400         400         400
invalid before forbidden 400 400 400         400         400         400
`

func TestGeneralRights(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		api, users := everyRole(t, st)
		source := pictures(t)
		venue := api.AddVenue(t, "Old hall")
		category := api.AddTerm(t, calendar.Category, "Old category")
		n := 0
		// fresh returns an unused word.
		fresh := func() string { n++; return fmt.Sprintf("fresh %d", n) }
		event := concert
		requests := map[string]func(as string) apitest.Request{
			"create an event":     func(as string) apitest.Request { return post(as, "/events", event(nil)) },
			"create a venue":      func(as string) apitest.Request { return post(as, "/venues", object{"venue": fresh()}) },
			"create an organizer": func(as string) apitest.Request { return post(as, "/organizers", object{"organizer": fresh()}) },
			"publish an event":    func(as string) apitest.Request { return post(as, "/events", event(object{"status": "publish"})) },
			"publish a venue": func(as string) apitest.Request {
				return post(as, "/venues", object{"venue": fresh(), "status": "publish"})
			},
			"publish an organizer": func(as string) apitest.Request {
				return post(as, "/organizers", object{"organizer": fresh(), "status": "publish"})
			},
			"create a private event": func(as string) apitest.Request { return post(as, "/events", event(object{"status": "private"})) },
			"schedule a venue": func(as string) apitest.Request {
				return post(as, "/venues", object{"venue": fresh(), "status": "publish", "date": "2027-01-01"})
			},
			"create a pending venue": func(as string) apitest.Request {
				return post(as, "/venues", object{"venue": fresh(), "status": "pending"})
			},
			"create for another": func(as string) apitest.Request {
				return post(as, "/events", event(object{"author": users["somebody"]}))
			},
			"create a venue of another": func(as string) apitest.Request {
				return post(as, "/venues", object{"venue": fresh(), "author": users["somebody"]})
			},
			"create for oneself": func(as string) apitest.Request {
				me := users[as]
				if as == "" {
					me = users["somebody"]
				}
				return post(as, "/events", event(object{"author": me}))
			},
			"create a category": func(as string) apitest.Request { return post(as, "/categories", object{"name": fresh()}) },
			"create a tag":      func(as string) apitest.Request { return post(as, "/tags", object{"name": fresh()}) },
			"edit a category": func(as string) apitest.Request {
				return patch(as, termPath("categories", category), object{"name": "Old category"})
			},
			"edit a tag": func(as string) apitest.Request {
				return patch(as, termPath("tags", api.AddTerm(t, calendar.Tag, fresh())), object{"name": fresh()})
			},
			"delete a category": func(as string) apitest.Request {
				return remove(as, termPath("categories", api.AddTerm(t, calendar.Category, fresh())))
			},
			"delete a tag": func(as string) apitest.Request {
				return remove(as, termPath("tags", api.AddTerm(t, calendar.Tag, fresh())))
			},
			"name a new category": func(as string) apitest.Request { return post(as, "/events", event(object{"categories": fresh()})) },
			"name a new tag":      func(as string) apitest.Request { return post(as, "/events", event(object{"tags": fresh()})) },
			"name an old category": func(as string) apitest.Request {
				return post(as, "/events", event(object{"categories": "old CATEGORY"}))
			},
			"create an inline venue": func(as string) apitest.Request {
				return post(as, "/events", event(object{"venue": object{"venue": fresh()}}))
			},
			"upload an image":   func(as string) apitest.Request { return upload(as, "a.png", picture(t, 2, 2)) },
			"upload by address": func(as string) apitest.Request { return post(as, "/images", object{"url": source + "/ok.png"}) },
			"send an image by address": func(as string) apitest.Request {
				return post(as, "/events", event(object{"image": source + "/ok.png"}))
			},
			"send an image by id": func(as string) apitest.Request {
				return post(as, "/events", event(object{"image": addImage(t, api, nil)}))
			},
			"list images": func(as string) apitest.Request { return apitest.Request{As: as, Path: "/images"} },
			"read an image": func(as string) apitest.Request {
				return apitest.Request{As: as, Path: imagePath(addImage(t, api, nil))}
			},
			"delete own image": func(as string) apitest.Request {
				me := users[as]
				if as == "" {
					return remove(as, imagePath(addImage(t, api, nil)))
				}
				return remove(as, imagePath(addImage(t, api, &me)))
			},
			"delete another's image": func(as string) apitest.Request {
				other := users["somebody"]
				return remove(as, imagePath(addImage(t, api, &other)))
			},
			"delete an unknown image": func(as string) apitest.Request { return remove(as, "/images/999999") },
			"list events":             func(as string) apitest.Request { return apitest.Request{As: as, Path: "/events"} },
			"list venues":             func(as string) apitest.Request { return apitest.Request{As: as, Path: "/venues"} },
			"list organizers":         func(as string) apitest.Request { return apitest.Request{As: as, Path: "/organizers"} },
			"list categories":         func(as string) apitest.Request { return apitest.Request{As: as, Path: "/categories"} },
			"list tags":               func(as string) apitest.Request { return apitest.Request{As: as, Path: "/tags"} },
			"read a category": func(as string) apitest.Request {
				return apitest.Request{As: as, Path: termPath("categories", category)}
			},
			"read a tag": func(as string) apitest.Request {
				return apitest.Request{As: as, Path: termPath("tags", api.AddTerm(t, calendar.Tag, fresh()))}
			},
			"read the index": func(as string) apitest.Request { return apitest.Request{As: as, Path: ""} },

			"update an unknown event":            func(as string) apitest.Request { return patch(as, "/events/999999", object{}) },
			"delete an unknown event":            func(as string) apitest.Request { return remove(as, "/events/999999") },
			"update an event by an unknown slug": func(as string) apitest.Request { return patch(as, "/events/by-slug/nothing", object{}) },
			"delete an event by an unknown slug": func(as string) apitest.Request { return remove(as, "/events/by-slug/nothing") },
			"update a venue as an event":         func(as string) apitest.Request { return patch(as, eventPath(venue), object{}) },
			"delete a venue as an event":         func(as string) apitest.Request { return remove(as, eventPath(venue)) },
			"update an unknown venue":            func(as string) apitest.Request { return patch(as, "/venues/999999", object{}) },
			"delete an unknown venue":            func(as string) apitest.Request { return remove(as, "/venues/999999") },
			"update a venue by an unknown slug":  func(as string) apitest.Request { return patch(as, "/venues/by-slug/nothing", object{}) },
			"delete an unknown organizer":        func(as string) apitest.Request { return remove(as, "/organizers/999999") },
			"update an unknown category":         func(as string) apitest.Request { return patch(as, "/categories/999999", object{}) },
			"delete an unknown tag":              func(as string) apitest.Request { return remove(as, "/tags/999999") },
			"invalid before forbidden":           func(as string) apitest.Request { return post(as, "/venues", object{"venue": "", "show_map": "x"}) },
		}
		walked := 0
		for line := range strings.Lines(general) {
			f := strings.Fields(line)
			if len(f) == 0 {
				continue
			}
			name := strings.Join(f[:len(f)-len(roles)], " ")
			if requests[name] == nil {
				t.Fatalf("no request for %q", name)
			}
			walked++
			for i, role := range roles {
				want := f[len(f)-len(roles)+i]
				r := api.Do(t, requests[name](role))
				got := fmt.Sprint(r.Status)
				if strings.Contains(want, ",") && r.Status < 300 {
					got += fmt.Sprint(",", r.Get(t, "status"))
				}
				if got != want {
					t.Errorf("%s as %q: %s, want %s: %s", name, role, got, want, r.Body)
				}
				if r.Status == http.StatusUnauthorized && len(r.Header.Values("WWW-Authenticate")) != 2 {
					t.Errorf("%s as %q: WWW-Authenticate %q", name, role, r.Header.Values("WWW-Authenticate"))
				}
			}
		}
		if walked != len(requests) {
			t.Errorf("%d of %d requests are in the table", walked, len(requests))
		}
	})
}
