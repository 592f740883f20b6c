package scenario

import (
	"strings"
	"testing"

	"github.com/almanac-cal/almanac/calendar"
)

func TestNamesAreDeclined(t *testing.T) {
	for _, test := range []struct {
		female bool
		origin calendar.Language
		forms  string // nominative, genitive, dative, accusative, instrumental, locative
	}{
		{false, "pl", "Kowalski Kowalskiego Kowalskiemu Kowalskiego Kowalskim Kowalskim"},
		{false, "pl", "Nowicki Nowickiego Nowickiemu Nowickiego Nowickim Nowickim"},
		{false, "pl", "Zawadzki Zawadzkiego Zawadzkiemu Zawadzkiego Zawadzkim Zawadzkim"},
		{true, "pl", "Kowalska Kowalskiej Kowalskiej Kowalską Kowalską Kowalskiej"},
		{true, "pl", "Nowicka Nowickiej Nowickiej Nowicką Nowicką Nowickiej"},
		{true, "pl", "Zawadzka Zawadzkiej Zawadzkiej Zawadzką Zawadzką Zawadzkiej"},
		{false, "pl", "Konieczny Koniecznego Koniecznemu Koniecznego Koniecznym Koniecznym"},
		{false, "pl", "Nowak Nowaka Nowakowi Nowaka Nowakiem Nowaku"},
		{true, "pl", "Nowak Nowak Nowak Nowak Nowak Nowak"},
		{false, "pl", "Dudek Dudka Dudkowi Dudka Dudkiem Dudku"},
		{false, "pl", "Marzec Marca Marcowi Marca Marcem Marcu"},
		{false, "pl", "Gołąb Gołębia Gołębiowi Gołębia Gołębiem Gołębiu"},
		{false, "pl", "Stępień Stępnia Stępniowi Stępnia Stępniem Stępniu"},
		{false, "pl", "Wróbel Wróbla Wróblowi Wróbla Wróblem Wróblu"},
		{false, "pl", "Zając Zająca Zającowi Zająca Zającem Zającu"},
		{false, "pl", "Król Króla Królowi Króla Królem Królu"},
		{false, "pl", "Kos Kosa Kosowi Kosa Kosem Kosie"},
		{false, "pl", "Mazur Mazura Mazurowi Mazura Mazurem Mazurze"},
		{false, "pl", "Banaś Banasia Banasiowi Banasia Banasiem Banasiu"},
		{false, "pl", "Stankiewicz Stankiewicza Stankiewiczowi Stankiewicza Stankiewiczem Stankiewiczu"},
		{false, "pl", "Duda Dudy Dudzie Dudę Dudą Dudzie"},
		{true, "pl", "Duda Dudy Dudzie Dudę Dudą Dudzie"},
		{false, "pl", "Sikora Sikory Sikorze Sikorę Sikorą Sikorze"},
		{false, "pl", "Czajka Czajki Czajce Czajkę Czajką Czajce"},
		{false, "pl", "Domagała Domagały Domagale Domagałę Domagałą Domagale"},
		{false, "pl", "Matejko Matejki Matejce Matejkę Matejką Matejce"},
		{true, "pl", "Matejko Matejko Matejko Matejko Matejko Matejko"},
		{false, "pl", "Paweł Pawła Pawłowi Pawła Pawłem Pawle"},
		{false, "pl", "Marek Marka Markowi Marka Markiem Marku"},
		{false, "pl", "Piotr Piotra Piotrowi Piotra Piotrem Piotrze"},
		{false, "pl", "Jerzy Jerzego Jerzemu Jerzego Jerzym Jerzym"},
		{false, "pl", "Ignacy Ignacego Ignacemu Ignacego Ignacym Ignacym"},
		{false, "pl", "Antoni Antoniego Antoniemu Antoniego Antonim Antonim"},
		{false, "pl", "Maciej Macieja Maciejowi Macieja Maciejem Macieju"},
		{false, "pl", "Daniel Daniela Danielowi Daniela Danielem Danielu"},
		{true, "pl", "Anna Anny Annie Annę Anną Annie"},
		{true, "pl", "Maria Marii Marii Marię Marią Marii"},
		{true, "pl", "Kinga Kingi Kindze Kingę Kingą Kindze"},
		{true, "pl", "Marta Marty Marcie Martę Martą Marcie"},
		{true, "pl", "Róża Róży Róży Różę Różą Róży"},
		{true, "pl", "Maja Mai Mai Maję Mają Mai"},
		{true, "pl", "Alicja Alicji Alicji Alicję Alicją Alicji"},
		{true, "pl", "Urszula Urszuli Urszuli Urszulę Urszulą Urszuli"},
		{true, "pl", "Zofia Zofii Zofii Zofię Zofią Zofii"},
		{true, "en", "Emily Emily Emily Emily Emily Emily"},
		{true, "en", "Laura Laury Laurze Laurę Laurą Laurze"},
		{true, "en", "Baker Baker Baker Baker Baker Baker"},
		{false, "en", "Baker Bakera Bakerowi Bakera Bakerem Bakerze"},
		{false, "en", "Kelly Kelly’ego Kelly’emu Kelly’ego Kellym Kellym"},
		{false, "en", "Murray Murraya Murrayowi Murraya Murrayem Murrayu"},
		{false, "en", "Jack Jacka Jackowi Jacka Jackiem Jacku"},
		{false, "en", "Charles Charlesa Charlesowi Charlesa Charlesem Charlesie"},
		{false, "en", "Blake Blake’a Blake’owi Blake’a Blakiem Blake’u"},
		{false, "en", "Hugh Hugha Hughowi Hugha Hughem Hughu"},
		{true, "es", "García Garcíi Garcíi Garcíę Garcíą Garcíi"},
		{true, "es", "Carmen Carmen Carmen Carmen Carmen Carmen"},
		{false, "es", "Vega Vegi Vedze Vegę Vegą Vedze"},
		{false, "es", "Navarro Navarra Navarrowi Navarra Navarrem Navarrze"},
		{false, "es", "Díaz Díaza Díazowi Díaza Díazem Díazie"},
		{false, "es", "Diego Diega Diegowi Diega Diegiem Diegu"},
		{false, "es", "Felipe Felipego Felipemu Felipego Felipem Felipem"},
		{false, "es", "José Joségo Josému Joségo Josém Josém"},
		{false, "es", "Mateo Mateo Mateo Mateo Mateo Mateo"},
	} {
		name, _, _ := strings.Cut(test.forms, " ")
		got := decline(name, test.female, test.origin)
		if all := strings.Join(got[:], " "); all != test.forms {
			t.Errorf("got  %s\nwant %s", all, test.forms)
		}
	}
}

func TestPrepositionFitsTheName(t *testing.T) {
	for name, want := range map[string]string{
		"Anna": "z", "Zofia": "z", "Szymon": "z", "Stanisław": "ze", "Zbigniew": "ze", "Stephen": "ze", "Sinéad": "z",
	} {
		if got := polishWith(name); got != want {
			t.Errorf("%s %s, want %s", got, name, want)
		}
	}
}
