package importer

// TablePreview is the beginning of a table as it was understood.
type TablePreview struct {
	Encoding, Separator string
	Columns             []PreviewColumn
	Rows                []PreviewRow
	Ambiguous           []AmbiguousDate
}

// PreviewColumn is a column with its field. Field is "" if the column is not read.
type PreviewColumn struct{ Header, Field string }

// PreviewRow is a row as it would be stored. Problem is the reason why it does not come, else "".
type PreviewRow struct {
	Line                                    int
	Title, Start, End, Venue, Cost, Problem string
}

// AmbiguousDate is the first date of a column with both of its readings.
type AmbiguousDate struct {
	Header, Text         string
	Line                 int
	DayFirst, MonthFirst string
}

const previewRows = 5
