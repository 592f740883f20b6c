// Package locale holds the service's texts in every language: messages of errors, words in replies, descriptions of the
// API. It also chooses a language by a client's Accept-Language.
//
// A catalogue is one embedded file per language, {language}.json: message key -> text, or message key ->
// CLDR plural category -> text. Keys that name an error code of the API are spelled as the code is. The
// descriptions are in doc.{language}.json: English text -> text.
package locale

import (
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	texttemplate "text/template"

	"github.com/nicksnyder/go-i18n/v2/i18n"
	"github.com/nicksnyder/go-i18n/v2/i18n/template"
	"golang.org/x/text/language"

	"github.com/almanac-cal/almanac/calendar"
)

//go:embed *.json
var files embed.FS

// Catalogues holds every sentence of the API in the languages of the service. It never changes after Load
// and may be used by any number of goroutines.
type Catalogues struct {
	messages map[calendar.Language]map[string]message
	texts    texts
	parser   template.Parser
	keys     []string
}

// message is one sentence in one language.
type message struct {
	text      string          // the plural form "other"; the whole sentence if fixed
	fixed     bool            // no placeholders and no plural forms: text is ready to be sent
	plural    bool            // the argument Count chooses the form
	localizer *i18n.Localizer // of the language the sentence is written in
}

// Load reads the embedded catalogues. An error means that a catalogue is unreadable or has a text that is
// no template, which is a defect of the build.
func Load() (*Catalogues, error) {
	c, err := load(files)
	if err != nil {
		return nil, err
	}
	c.texts, err = loadTexts(files)
	return c, err
}

func load(files fs.FS) (*Catalogues, error) {
	c := &Catalogues{
		messages: make(map[calendar.Language]map[string]message, len(calendar.Languages)),
		// A sentence with a hole ("There is no event with ID <no value>.") must not reach a client.
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
		// Every language has the category "other", and the others fall back to it.
		if m.Other == "" {
			return nil, fmt.Errorf("message %q has no text", m.ID)
		}
		forms := m.Zero + m.One + m.Two + m.Few + m.Many
		// The bundle parses templates when they are first used; a bad one should stop the start instead.
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

// Message is the sentence named key in the language lang, its placeholders filled from args. Arguments are
// printed as package fmt prints them, so lists must be joined by the caller. Sentences with plural forms choose
// the form by args["Count"], an integer of a signed type or a string of digits; without one they take the
// general form.
//
// A sentence missing in lang, and every sentence of an unknown language, is English; an unknown key, or
// a sentence of which an argument is missing, is the key itself.
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
		config.PluralCount = nil // the count may be what is wrong
		text, err = m.localizer.Localize(&config)
	}
	if err != nil {
		return key
	}
	return text
}

// Keys lists the keys of all messages in alphabetical order.
func (c *Catalogues) Keys() []string { return slices.Clone(c.keys) }
