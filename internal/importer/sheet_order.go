package importer

import (
	"fmt"
	"slices"
	"strings"
)

// findOrders finds out, for each column of dates, whether day or month comes first. It prefers t.Tables.Dates, then the
// order that dates of that column prove. If there is neither, it calls t.Tables.Preview. If that returns no order,
// findOrders returns an error.
func (t *tableReader) findOrders(preview TablePreview) error {
	type found struct {
		proved    map[DateOrder]bool
		ambiguous *AmbiguousDate
	}
	columns := make([]found, len(t.columns))
	for row := range t.table.Rows(func(bool) {}) {
		for i, c := range t.columns {
			if !slices.Contains(dateFields, c.field) || len(row.Cells[i]) > maxDateText {
				continue
			}
			order, ambiguous := orderEvidence(row.Cells[i])
			if order != "" {
				if columns[i].proved == nil {
					columns[i].proved = make(map[DateOrder]bool)
				}
				columns[i].proved[order] = true
			}
			if ambiguous && columns[i].ambiguous == nil {
				columns[i].ambiguous = &AmbiguousDate{Header: c.header, Text: strings.TrimSpace(row.Cells[i]), Line: row.Line}
			}
		}
	}
	for i, c := range t.columns {
		f := columns[i]
		switch {
		case t.Tables.Dates != "":
			t.orders[c.field] = t.Tables.Dates
		case f.ambiguous == nil:
		case len(f.proved) == 1:
			for order := range f.proved {
				t.orders[c.field] = order
			}
		default:
			a := *f.ambiguous
			a.DayFirst, a.MonthFirst = readingOf(a.Text, DayFirst), readingOf(a.Text, MonthFirst)
			preview.Ambiguous = append(preview.Ambiguous, a)
		}
	}
	if len(preview.Ambiguous) == 0 {
		return nil
	}
	var order DateOrder
	if t.Tables.Preview != nil {
		var err error
		if order, err = t.Tables.Preview(preview); err != nil {
			return err
		}
	}
	if order == "" {
		a := preview.Ambiguous[0]
		return fmt.Errorf("line %d, column %q: %q is %s with --dates dmy and %s with --dates mdy; say which", a.Line, abbreviate(a.Header),
			abbreviate(a.Text), a.DayFirst, a.MonthFirst)
	}
	t.Tables.Dates = order // another read of the same source asks no more
	for _, field := range dateFields {
		if t.orders[field] == "" {
			t.orders[field] = order
		}
	}
	return nil
}

// dateFields are the fields with dates, in which the day or the month may come first.
var dateFields = []string{"start_date", "end_date", "published"}

// readingOf returns the meaning of a date in an order, such as "5 June 2026". For an invalid date it returns the
// error's text.
func readingOf(text string, order DateOrder) string {
	d, err := readDate(text, order)
	if err != nil {
		return err.Error()
	}
	return d.day.Format("2 January 2006")
}
