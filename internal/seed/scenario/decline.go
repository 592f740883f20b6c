package scenario

import (
	"slices"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
)

// decline returns the Polish grammatical cases of a first name or a surname. If female is true, it is a woman's
// name. The result depends on origin, the name's language, because that decides how a final vowel is pronounced.
func decline(name string, female bool, origin calendar.Language) [grammaticalCases]string {
	switch {
	case hasSuffix(name, "ska", "cka", "dzka") && female && origin == calendar.Polish:
		return appendEndings(name, name[:len(name)-1], "iej", "iej", "ą", "ą", "iej")
	case hasSuffix(name, "a", "á"):
		return declineA(name)
	case female:
		return appendEndings(name, name, "", "", "", "", "")
	case hasSuffix(name, "ski", "cki", "dzki", "i"):
		return appendEndings(name, strings.TrimSuffix(name, "i"), "iego", "iemu", "iego", "im", "im")
	case hasSuffix(name, "é"), hasSuffix(name, "e") && origin != calendar.English, hasSuffix(name, "ee", "ie"):
		return appendEndings(name, name, "go", "mu", "go", "m", "m")
	case hasSuffix(name, "e"):
		return declineSilentE(name)
	case hasSuffix(name, "ay", "ey", "oy", "uy"):
		return appendEndings(name, name, "a", "owi", "a", "em", "u")
	case hasSuffix(name, "y") && origin == calendar.Polish:
		return appendEndings(name, name[:len(name)-1], "ego", "emu", "ego", "ym", "ym")
	case hasSuffix(name, "y"):
		return appendEndings(name, name, "’ego", "’emu", "’ego", "m", "m")
	case hasSuffix(name, "o") && origin == calendar.Polish:
		forms := declineA(name[:len(name)-1] + "a")
		forms[0] = name
		return forms
	case hasSuffix(name, "eo", "ao", "u", "ú", "í"):
		return appendEndings(name, name, "", "", "", "", "")
	case hasSuffix(name, "o"):
		return declineHard(name, name[:len(name)-1])
	}
	return declineHard(name, stemOf(name, origin))
}

// grammaticalCases is the number of forms of a Polish name: nominative, genitive, dative, accusative, instrumental
// and locative.
const grammaticalCases = 6

// irregularNames maps Polish first names and surnames of men to their stems, if these lose or change a vowel.
var irregularNames = map[string]string{
	"Paweł": "Pawł", "Marzec": "Marc", "Gołąb": "Gołębi", "Stępień": "Stępni", "Wróbel": "Wróbl",
	"Kwiecień": "Kwietni", "Grudzień": "Grudni", "Jastrząb": "Jastrzębi", "Kozioł": "Kozł", "Kupiec": "Kupc",
	"Krawiec": "Krawc",
}

// appendEndings returns the cases of a name by appending endings. The nominative is name, and the other cases begin
// with stem.
func appendEndings(name, stem string, genitive, dative, accusative, instrumental, locative string) [grammaticalCases]string {
	return [grammaticalCases]string{
		name, stem + genitive, stem + dative, stem + accusative, stem + instrumental, stem + locative,
	}
}

func hasSuffix(s string, suffixes ...string) bool {
	return slices.ContainsFunc(suffixes, func(suffix string) bool { return strings.HasSuffix(s, suffix) })
}

// declineA returns the Polish grammatical cases of a name that ends in -a.
func declineA(name string) [grammaticalCases]string {
	stem := strings.TrimSuffix(strings.TrimSuffix(name, "a"), "á")
	switch {
	case hasSuffix(name, "ja") && hasSuffix(strings.TrimSuffix(name, "ja"), "a", "e", "o", "u"): // Maja: Mai
		short := strings.TrimSuffix(stem, "j")
		return appendEndings(name, "", short+"i", short+"i", stem+"ę", stem+"ą", short+"i")
	case hasSuffix(name, "sia", "zia", "nia") && !hasSuffix(name, "onia", "enia"): // Hania: Hani
		return appendEndings(name, "", stem, stem, stem+"ę", stem+"ą", stem)
	case hasSuffix(stem, "i", "í", "j", "l", "e", "o", "ñ", "y", "ll"): // Maria: Marii
		return appendEndings(name, stem, "i", "i", "ę", "ą", "i")
	case hasSuffix(stem, "cz", "sz", "rz", "ż", "c", "dz", "sh"): // Róża: Róży
		return appendEndings(name, stem, "y", "y", "ę", "ą", "y")
	case hasSuffix(stem, "ch"):
		return appendEndings(name, "", stem+"y", softenStem(stem), stem+"ę", stem+"ą", softenStem(stem))
	}
	genitive := stem + "y"
	if hasSuffix(stem, "k", "g") {
		genitive = stem + "i"
	}
	return appendEndings(name, "", genitive, softenStem(stem), stem+"ę", stem+"ą", softenStem(stem))
}

// declineSilentE returns the Polish grammatical cases of an English man's name that ends in a silent e.
func declineSilentE(name string) [grammaticalCases]string {
	instrumental, locative := name+"’em", name+"’u"
	short := name[:len(name)-1]
	switch {
	case hasSuffix(short, "k"):
		instrumental = short + "iem"
	case hasSuffix(short, "r", "n", "v", "m", "d", "t"):
		locative = softenStem(short)
	}
	return appendEndings(name, "", name+"’a", name+"’owi", name+"’a", instrumental, locative)
}

// declineHard returns the Polish grammatical cases of a man's name whose stem ends in a consonant.
func declineHard(name, stem string) [grammaticalCases]string {
	instrumental, locative := stem+"em", stem+"u"
	switch {
	case hasSuffix(stem, "k", "g"):
		instrumental = stem + "iem"
	case hasSuffix(stem, "i", "j", "l", "cz", "sz", "rz", "ż", "c", "dz", "h") && !hasSuffix(stem, "th", "ph"):
	default:
		locative = softenStem(stem)
	}
	return appendEndings(name, "", stem+"a", stem+"owi", stem+"a", instrumental, locative)
}

// stemOf returns the stem of a man's name that ends in a consonant. Only Polish names have a stem other than the
// name.
func stemOf(name string, origin calendar.Language) string {
	if origin != calendar.Polish {
		return name
	}
	if stem, ok := irregularNames[name]; ok {
		return stem
	}
	if short, ok := strings.CutSuffix(name, "ek"); ok && strings.ContainsAny(short, "aeiouyąęó") { // Dudek: Dudka
		return short + "k"
	}
	for hard, soft := range map[string]string{"ń": "ni", "ś": "si", "ć": "ci", "ź": "zi"} {
		if short, ok := strings.CutSuffix(name, hard); ok {
			return short + soft
		}
	}
	return name
}

// softenStem returns the form of a Polish stem before the ending -e of the dative and locative, with that ending.
func softenStem(stem string) string {
	for _, change := range [...][2]string{
		{"st", "ście"},
		{"sł", "śle"},
		{"ch", "sze"},
		{"th", "cie"},
		{"tt", "tcie"},
		{"k", "ce"},
		{"g", "dze"},
		{"r", "rze"},
		{"t", "cie"},
		{"d", "dzie"},
		{"ł", "le"},
	} {
		if short, ok := strings.CutSuffix(stem, change[0]); ok {
			return short + change[1]
		}
	}
	return stem + "ie"
}
