package locale

import (
	"encoding/json"
	"fmt"
	"io/fs"

	"github.com/almanac-cal/almanac/calendar"
)

// texts are the translated descriptions of the API by language and English text. They come from
// doc.{language}.json. English needs no file, because the English texts are in the code.
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

// Text returns a description of the API (of a parameter, operation or reply) in a language. The English text is
// the key. Without a translation, and for an unknown language, it returns the English text.
func (c *Catalogues) Text(lang calendar.Language, english string) string {
	if lang == calendar.English || !lang.Known() {
		return english
	}
	if text := c.texts[lang][english]; text != "" {
		return text
	}
	return english
}
