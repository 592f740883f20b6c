package markup

import (
	"strings"
	"testing"
)

var testTitles = FrameTitles{Video: "Video", Map: "Map"}

func TestFramesBecomeLinks(t *testing.T) {
	const youTube = `<iframe src="https://www.youtube.com/embed/aB-3_x?rel=0"></iframe>`
	tests := []struct {
		name, in, want string
		removed        Removed
	}{
		{"YouTube", youTube, `<p><a href="https://www.youtube.com/watch?v=aB-3_x">Video</a></p>`, Removed{Videos: 1}},
		{"the same video twice", youTube + "<noscript>" + youTube + "</noscript>", `<p><a href="https://www.youtube.com/watch?v=aB-3_x">Video</a></p>`, Removed{Videos: 1}},
		{
			"Vimeo with a title, without a scheme", `<p>A</p><iframe title="Our  &lt;film&gt;" src="//player.vimeo.com/video/12?h=ab"></iframe>`,
			`<p>A</p><p><a href="https://vimeo.com/12/ab">Our &lt;film&gt;</a></p>`,
			Removed{Videos: 1},
		},
		{"Dailymotion", `<iframe src="https://www.dailymotion.com/embed/video/x1"></iframe>`, `<p><a href="https://www.dailymotion.com/video/x1">Video</a></p>`, Removed{Videos: 1}},
		{"PeerTube", `<iframe src="https://tube.example.org/videos/embed/x1"></iframe>`, `<p><a href="https://tube.example.org/videos/watch/x1">Video</a></p>`, Removed{Videos: 1}},
		{
			"Google Maps", `<iframe src="https://www.google.com/maps/embed?pb=!1m18!1d2443!2d21.01!3d52.23!2m3"></iframe>`,
			`<p><a href="https://www.google.com/maps/search/?api=1&amp;query=52.23%2C21.01">Map</a></p>`,
			Removed{Maps: 1},
		},
		{
			"OpenStreetMap", `<iframe src="https://www.openstreetmap.org/export/embed.html?bbox=1,2,3,4&amp;marker=52.2,21.0"></iframe>`,
			`<p><a href="https://www.openstreetmap.org/?mlat=52.2&amp;mlon=21.0">Map</a></p>`,
			Removed{Maps: 1},
		},
		{"another page", `<p>A</p><iframe src="https://tickets.example.org/"></iframe>`, "<p>A</p>", Removed{Frames: 1}},
		{"a script in the address", `<iframe src="javascript:alert(1)//youtube.com/embed/a"></iframe>`, "", Removed{Frames: 1}},
		{
			"other elements", `<p class="a" style="b">A</p><script>x</script><form>B</form><style>c</style><embed src="d">`,
			"<p>A</p>",
			Removed{Objects: 1, Scripts: 1, Forms: 1, Styles: 2},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text, removed := WithFrameLinks(tt.in, testTitles)
			got, err := HTML(text)
			if err != nil || got != tt.want || removed != tt.removed {
				t.Errorf("%s, %+v, %v\nwant %s, %+v", got, removed, err, tt.want, tt.removed)
			}
		})
	}
}

func FuzzWithFrameLinks(f *testing.F) {
	f.Add(`<p>A<iframe src="https://www.youtube.com/embed/a"></iframe><b`)
	f.Add("1 < 2 <!-- <iframe src=//player.vimeo.com/video/1> \x00\r\n")
	f.Fuzz(func(t *testing.T, s string) {
		text, removed := WithFrameLinks(s, testTitles)
		if removed.Videos+removed.Maps == 0 && text != s {
			t.Errorf("%q became %q without a link", s, text)
		}
		if got, err := HTML(text); err == nil && strings.Contains(got, "<iframe") {
			t.Errorf("%q has a frame", got)
		}
	})
}
