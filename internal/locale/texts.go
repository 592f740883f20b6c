package locale

import (
	"encoding/json"
	"fmt"
	"io/fs"

	"github.com/almanac-cal/almanac/calendar"
)

// texts are the translations of descriptive texts: language -> English text -> text. They are read from
// doc.{language}.json; there is none for English, whose texts stand where they describe something.
type texts map[calendar.Language]map[string]string

func loadTexts(files fs.FS) (texts, error) {
	all := make(texts, len(calendar.Languages)-1)
	for _, lang := range calendar.Languages {
		if lang == calendar.English {
			continue
		}
		data, err := fs.ReadFile(files, "doc."+string(lang)+".json")
		if err != nil {
			return nil, fmt.Errorf("descriptions %s: %w", lang, err)
		}
		var translations map[string]string
		if err := json.Unmarshal(data, &translations); err != nil {
			return nil, fmt.Errorf("descriptions %s: %w", lang, err)
		}
		all[lang] = translations
	}
	return all, nil
}

// Text is a descriptive text of the API in the language lang: what a parameter, an operation or a reply is, as
// the index and the interface description say it. The English text is its own key. A text without
// a translation, and every text in an unknown language, is English.
func (c *Catalogues) Text(lang calendar.Language, english string) string {
	if lang == calendar.English || !lang.Known() {
		return english
	}
	if text := c.texts[lang][english]; text != "" {
		return text
	}
	return english
}
