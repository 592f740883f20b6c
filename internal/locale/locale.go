// Package locale provides the texts of the service in every language. These are error messages, words in replies, and
// descriptions of the API. It also chooses a language by a client's Accept-Language.
//
// A catalogue is one embedded file per language, {language}.json. It maps a message key to a text, or to a text
// for each CLDR plural category. Many error messages have their error code as the key. Descriptions are in
// doc.{language}.json, which maps the English text to the translation.
package locale

import (
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	texttemplate "text/template"

	"github.com/nicksnyder/go-i18n/v2/i18n"
	"github.com/nicksnyder/go-i18n/v2/i18n/template"
	"golang.org/x/text/language"

	"github.com/almanac-cal/almanac/calendar"
)

//go:embed *.json
var files embed.FS

// Catalogues are all messages and descriptions in the languages of the service. They never change after Load,
// so they are safe for concurrent use.
type Catalogues struct {
	messages map[calendar.Language]map[string]message
	texts    texts
	parser   template.Parser
	keys     []string
}

// message is one message in one language.
type message struct {
	text      string          // the whole text if fixed, else the plural form "other"
	fixed     bool            // true if the text has no placeholders and no plural forms
	plural    bool            // true if the argument Count chooses the plural form
	localizer *i18n.Localizer // localizer for the language of the text
}

// Load returns the embedded catalogues, which it reads at the first call. An error means that a catalogue is
// unreadable or contains an invalid template, which is a defect of the build.
func Load() (*Catalogues, error) { return embedded() }

var embedded = sync.OnceValues(func() (*Catalogues, error) {
	c, err := load(files)
	if err != nil {
		return nil, err
	}
	c.texts, err = loadTexts(files)
	return c, err
})

func load(files fs.FS) (*Catalogues, error) {
	c := &Catalogues{
		messages: make(map[calendar.Language]map[string]message, len(calendar.Languages)),
		// A message with a missing argument ("There is no event with ID <no value>.") must not reach a client.
		parser: &template.TextParser{Option: "missingkey=error"},
	}
	bundle := i18n.NewBundle(language.English)
	for _, lang := range calendar.Languages {
		messages, err := loadLanguage(bundle, files, lang)
		if err != nil {
			return nil, fmt.Errorf("catalogue %s: %w", lang, err)
		}
		c.messages[lang] = messages
	}
	english := c.messages[calendar.English]
	for _, messages := range c.messages {
		for key, m := range english {
			if _, ok := messages[key]; !ok {
				messages[key] = m
			}
		}
	}
	c.keys = slices.Sorted(maps.Keys(english))
	return c, nil
}

func loadLanguage(bundle *i18n.Bundle, files fs.FS, lang calendar.Language) (map[string]message, error) {
	name := string(lang) + ".json"
	text, err := fs.ReadFile(files, name)
	if err != nil {
		return nil, err
	}
	parsed, err := bundle.ParseMessageFileBytes(text, name)
	if err != nil {
		return nil, err
	}
	localizer := i18n.NewLocalizer(bundle, string(lang))
	messages := make(map[string]message, len(parsed.Messages))
	for _, m := range parsed.Messages {
		// Every language has the category "other". Missing categories fall back to it.
		if m.Other == "" {
			return nil, fmt.Errorf("message %q has no text", m.ID)
		}
		forms := m.Zero + m.One + m.Two + m.Few + m.Many
		// The bundle parses templates at their first use. Parsing them here makes an invalid one fail at
		// start-up.
		for _, form := range []string{m.Zero, m.One, m.Two, m.Few, m.Many, m.Other} {
			if _, err := texttemplate.New(m.ID).Parse(form); err != nil {
				return nil, err
			}
		}
		messages[m.ID] = message{
			text:      m.Other,
			fixed:     forms == "" && !strings.Contains(m.Other, "{{"),
			plural:    forms != "",
			localizer: localizer,
		}
	}
	return messages, nil
}

// Message returns the message with a key in a language, with placeholders filled from args. Arguments are
// formatted as package fmt does, so the caller must join lists. args["Count"], a signed integer or a string of
// digits, chooses the plural form. Without it the form "other" is used.
//
// If the language is unknown or lacks the message, the English one is returned. If the key is unknown or an
// argument is missing, the key itself is returned.
func (c *Catalogues) Message(lang calendar.Language, key string, args map[string]any) string {
	messages, ok := c.messages[lang]
	if !ok {
		messages = c.messages[calendar.English]
	}
	m, ok := messages[key]
	switch {
	case !ok:
		return key
	case m.fixed:
		return m.text
	}
	config := i18n.LocalizeConfig{MessageID: key, TemplateData: args, TemplateParser: c.parser}
	if m.plural {
		config.PluralCount = args["Count"]
	}
	text, err := m.localizer.Localize(&config)
	if err != nil && config.PluralCount != nil {
		config.PluralCount = nil // the count may be the invalid argument
		text, err = m.localizer.Localize(&config)
	}
	if err != nil {
		return key
	}
	return text
}

// Keys returns the keys of all messages in alphabetical order.
func (c *Catalogues) Keys() []string { return slices.Clone(c.keys) }
