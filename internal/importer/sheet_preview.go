package importer

// TablePreview shows how the beginning of a table was understood, so that a user can check it before the import.
type TablePreview struct {
	Encoding, Separator string
	Columns             []PreviewColumn
	Rows                []PreviewRow
	Ambiguous           []AmbiguousDate
}

// PreviewColumn is a column of the table and its field, which is "" if the column is ignored.
type PreviewColumn struct{ Header, Field string }

// PreviewRow is a row of the table as it would be stored. Problem says why the row would not be imported; "" means that
// it would.
type PreviewRow struct {
	Line                                    int
	Title, Start, End, Venue, Cost, Problem string
}

// AmbiguousDate is the first date of a column whose order of day and month is unknown, with both readings.
type AmbiguousDate struct {
	Header, Text         string
	Line                 int
	DayFirst, MonthFirst string
}

const previewRows = 5
