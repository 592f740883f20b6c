package schema

// api declares how the API treats a field: its name, limits and documentation. Generated code follows from this,
// such as tables of fields, inputs, parameters and representations. A field without api is not visible to clients,
// or its code is written by hand.
type api struct {
	// Key is the name in the API if it is not that of the column. Columns with one key are one field.
	Key string
	// Doc describes the field in the interface description. It is the key of its translations.
	Doc string
	// Sample is a value that the interface description shows. Booleans need none.
	Sample any
	// Min and Max are the least and the largest value of an integer.
	Min, Max int
	// Address marks a text that is a URL.
	Address bool
	// Ruled marks a field with rules of its own: hand-written code declares it, applies it to a row, and shows it.
	Ruled bool
	// Placed marks a field that replies had before others came after it: the representation states its place.
	Placed bool
	// Guarded marks a field of an event that a password hides.
	Guarded bool
}

// Name implements schema.Annotation.
func (api) Name() string { return "API" }

// representation marks a type whose JSON representation and rows in tables are generated.
type representation struct {
	// Doc describes the records in the interface description. It is the key of its translations.
	Doc string
	// SchemaOrg is the type of the linked data of a record in the schema.org vocabulary.
	SchemaOrg string
}

// Name implements schema.Annotation.
func (representation) Name() string { return "Representation" }
