package seed

import (
	"fmt"

	"github.com/brianvoe/gofakeit/v6"

	"github.com/almanac-cal/almanac/calendar"
)

// town is a real city with invented venues and organizers. They are keyed by what they are, so that one
// programme fits all towns.
type town struct {
	name              string
	in                Text // "in Bristol"
	province, country string
	zone              string
	phone             string // for a number below 1000
	price             string // for whole units of the currency
	pound             int    // how many units go for what costs a pound
	venues            map[string]place
	organizers        map[string]string
	first, last       []string // names of people; none: English ones
}

type place struct {
	name, address, zip  string
	latitude, longitude float64
}

// The keys, in the order in which they are written.
var (
	venueKeys = []string{
		"club", "hall", "church", "theatre", "studio", "library", "gallery", "park", "market", "arena", "school",
		"centre", "cinema",
	}
	organizerKeys = []string{
		"jazz", "orchestra", "company", "readers", "sports", "traders", "college", "lens",
	}
)

// person makes up a name. The surnames of the lists do not depend on the gender of the first name.
func (t *town) person(f *gofakeit.Faker) string {
	if len(t.first) == 0 {
		return f.FirstName() + " " + f.LastName()
	}
	return f.RandomString(t.first) + " " + f.RandomString(t.last)
}

// cost is a price in whole pounds, as it is written in the town.
func (t *town) cost(pounds int) string {
	return fmt.Sprintf(t.price, pounds*t.pound)
}

// towns has the city for each main language.
var towns = map[calendar.Language]*town{
	calendar.English: {
		name: "Bristol",
		in: Text{
			calendar.English: "in Bristol", calendar.Polish: "w Bristolu", calendar.Spanish: "en Bristol",
		},
		country: "United Kingdom", zone: "Europe/London",
		phone: "+44 117 496 0%03d", // numbers reserved for use in drama
		price: "£%d", pound: 1,
		venues: map[string]place{
			"club":    {"The Ropewalk Cellar", "King Street", "BS1 4ER", 51.4514, -2.5927},
			"hall":    {"Harbour Hall", "Trenchard Street", "BS1 5AN", 51.4550, -2.5988},
			"church":  {"St Brandan's on the Hill", "Great George Street", "BS1 5RR", 51.4543, -2.6027},
			"theatre": {"The Merchant Playhouse", "King Street", "BS1 4ED", 51.4521, -2.5943},
			"studio":  {"Raleigh Road Studio Theatre", "Raleigh Road", "BS3 1TF", 51.4416, -2.6133},
			"library": {"College Green Library", "Deanery Road", "BS1 5TL", 51.4513, -2.6020},
			"gallery": {"Narrow Quay Gallery", "16 Narrow Quay", "BS1 4QA", 51.4493, -2.5977},
			"park":    {"Queen Square Bandstand", "Queen Square", "BS1 4LH", 51.4503, -2.5948},
			"market":  {"Corn Street Market Hall", "Corn Street", "BS1 1JQ", 51.4546, -2.5933},
			"arena":   {"Easton Sports Hall", "Thrissell Street", "BS5 0SW", 51.4605, -2.5738},
			"school":  {"Tyndall Lecture Theatre", "Tyndall Avenue", "BS8 1TL", 51.4589, -2.6022},
			"centre":  {"Beauley Road Neighbourhood House", "Beauley Road", "BS3 1QG", 51.4434, -2.6083},
			"cinema":  {"The Quayside Picture House", "Canon's Road", "BS1 5TX", 51.4515, -2.5984},
		},
		organizers: map[string]string{
			"jazz": "Avon Jazz Society", "orchestra": "Severnside Chamber Orchestra",
			"company": "Paper Lantern Theatre Company", "readers": "Friends of College Green Library",
			"sports": "Floating Harbour Athletic Club", "traders": "Corn Street Traders",
			"college": "Tyndall Evening College", "lens": "Lens & Line Collective",
		},
	},
	calendar.Polish: {
		name: "Kraków",
		in: Text{
			calendar.English: "in Kraków", calendar.Polish: "w Krakowie", calendar.Spanish: "en Cracovia",
		},
		province: "małopolskie", country: "Polska", zone: "Europe/Warsaw",
		phone: "+48 12 100 0%03d", // no subscriber's number begins with 1
		price: "%d zł", pound: 5,
		venues: map[string]place{
			"club":    {"Piwnica Pod Zegarem", "ul. Szewska 12", "31-009", 50.0625, 19.9356},
			"hall":    {"Sala Koncertowa Zwierzyniecka", "ul. Zwierzyniecka 1", "31-103", 50.0593, 19.9334},
			"church":  {"Dawna Kaplica Augustiańska", "ul. Augustiańska 7", "31-064", 50.0499, 19.9399},
			"theatre": {"Teatr Pod Plantami", "ul. Jagiellońska 1", "31-010", 50.0633, 19.9359},
			"studio":  {"Scena Skarbowa", "ul. Skarbowa 2", "31-121", 50.0635, 19.9246},
			"library": {"Biblioteka na Rajskiej", "ul. Rajska 1", "31-124", 50.0646, 19.9293},
			"gallery": {"Galeria Szczepańska", "plac Szczepański 3A", "31-011", 50.0636, 19.9352},
			"park":    {"Altana nad Błoniami", "al. 3 Maja 11", "30-062", 50.0635, 19.9180},
			"market":  {"Hala Kleparska", "Rynek Kleparski 20", "31-150", 50.0672, 19.9418},
			"arena":   {"Hala Sportowa Reymonta", "ul. Reymonta 22", "30-059", 50.0637, 19.9120},
			"school":  {"Aula Krupnicza", "ul. Krupnicza 33", "31-123", 50.0626, 19.9253},
			"centre":  {"Dom Sąsiedzki na Sokolskiej", "ul. Sokolska 13", "30-510", 50.0425, 19.9478},
			"cinema":  {"Kino Nadwiślańskie", "ul. Nadwiślańska 2", "30-527", 50.0466, 19.9528},
		},
		organizers: map[string]string{
			"jazz": "Krakowskie Towarzystwo Jazzowe", "orchestra": "Orkiestra Kameralna Nad Wisłą",
			"company": "Teatr Papierowa Latarnia", "readers": "Przyjaciele Biblioteki na Rajskiej",
			"sports": "Klub Sportowy Błonia", "traders": "Kupcy z Kleparza",
			"college": "Uniwersytet Otwarty Krupnicza", "lens": "Kolektyw Światło & Cień",
		},
		first: []string{
			"Agnieszka", "Aleksander", "Anna", "Bartosz", "Dorota", "Ewa", "Filip", "Grzegorz", "Hanna", "Igor", "Jagoda",
			"Jan", "Joanna", "Kacper", "Kinga", "Łukasz", "Magda", "Marcin", "Natalia", "Olga", "Paweł", "Piotr", "Róża",
			"Stanisław", "Tomasz", "Urszula", "Wojciech", "Zofia",
		},
		last: []string{
			"Baran", "Bąk", "Cieślak", "Duda", "Dudek", "Gołąb", "Jaworek", "Kaczmarek", "Kos", "Król", "Kubiak", "Kurek",
			"Lis", "Marzec", "Mazur", "Michalak", "Nowak", "Pawlak", "Pietrzak", "Sikora", "Sowa", "Stępień", "Szewczyk",
			"Tomczyk", "Walczak", "Wilk", "Wójcik", "Wróbel", "Zając", "Żak",
		},
	},
	calendar.Spanish: {
		name: "Valencia",
		in: Text{
			calendar.English: "in Valencia", calendar.Polish: "w Walencji", calendar.Spanish: "en Valencia",
		},
		province: "Valencia", country: "España", zone: "Europe/Madrid",
		phone: "+34 960 000 %03d",
		price: "%d €", pound: 1,
		venues: map[string]place{
			"club":    {"Sótano de la Calle Baja", "Calle Baja, 28", "46003", 39.4783, -0.3806},
			"hall":    {"Auditorio de la Alameda", "Paseo de la Alameda, 30", "46023", 39.4664, -0.3603},
			"church":  {"Antigua Iglesia de los Caballeros", "Calle Trinquete de Caballeros, 5", "46003", 39.4741, -0.3720},
			"theatre": {"Teatro de las Barcas", "Calle de las Barcas, 15", "46002", 39.4704, -0.3742},
			"studio":  {"Sala Ruzafa Escena", "Calle de Cádiz, 25", "46006", 39.4622, -0.3724},
			"library": {"Biblioteca del Hospital Viejo", "Calle del Hospital, 13", "46001", 39.4709, -0.3803},
			"gallery": {"Galería Puerta del Norte", "Calle de Guillem de Castro, 118", "46003", 39.4802, -0.3833},
			"park":    {"Templete de los Viveros", "Calle de San Pío V, s/n", "46010", 39.4790, -0.3680},
			"market":  {"Lonja de Jorge Juan", "Calle de Jorge Juan, 19", "46004", 39.4689, -0.3687},
			"arena":   {"Pabellón Hermanos Maristas", "Avenida de los Hermanos Maristas, 16", "46013", 39.4513, -0.3660},
			"school":  {"Aula Magna de la Nave", "Calle de la Universidad, 2", "46003", 39.4734, -0.3748},
			"centre":  {"Casa de Barrio del Cabañal", "Calle de la Reina, 121", "46011", 39.4692, -0.3290},
			"cinema":  {"Cine de la Nave Azul", "Calle de Juan Verdeguer, 16", "46024", 39.4553, -0.3405},
		},
		organizers: map[string]string{
			"jazz": "Sociedad Valenciana de Jazz", "orchestra": "Orquesta de Cámara del Turia",
			"company": "Compañía Farol de Papel", "readers": "Amigos de la Biblioteca del Hospital",
			"sports": "Club Deportivo Cauce del Turia", "traders": "Comerciantes de Jorge Juan",
			"college": "Aula Abierta de la Nave", "lens": "Colectivo Luz & Línea",
		},
		first: []string{
			"Adrián", "Alba", "Amparo", "Andrés", "Beatriz", "Carmen", "Clara", "Diego", "Elena", "Gonzalo", "Inés", "Irene",
			"Jaime", "Javier", "Jorge", "Laura", "Lucía", "Manuel", "Marta", "Miguel", "Nuria", "Pablo", "Pilar", "Rafael",
			"Rosa", "Sergio", "Teresa", "Vicente",
		},
		last: []string{
			"Aguilar", "Alonso", "Benlloch", "Blasco", "Calvo", "Campos", "Crespo", "Domingo", "Ferrer", "Fuentes", "Gil",
			"Herrero", "Ibáñez", "Llorens", "Marín", "Molina", "Navarro", "Ortega", "Pascual", "Peris", "Prieto", "Ramos",
			"Roig", "Rubio", "Sanchis", "Serrano", "Soler", "Tormo", "Vidal", "Zamora",
		},
	},
}
