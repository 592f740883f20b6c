package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/almanac-cal/almanac/internal/importer"
)

func TestAskOrderWantsOneOfTwoAnswers(t *testing.T) {
	for _, tt := range []struct {
		typed   string
		want    importer.DateOrder
		prompts int
		fails   bool
	}{
		{"dmy\n", importer.DayFirst, 1, false},
		{"what?\n MDY \n", importer.MonthFirst, 2, false},
		{"\n", "", 1, false},
		{"", "", 1, false},
		{"what?", "", 1, true},
	} {
		var asked bytes.Buffer
		got, err := askOrder(streams{In: strings.NewReader(tt.typed), Err: &asked})
		if got != tt.want || (err != nil) != tt.fails || strings.Count(asked.String(), "dmy or mdy?") != tt.prompts {
			t.Errorf("%q: %q, %v after %q", tt.typed, got, err, &asked)
		}
	}
}
