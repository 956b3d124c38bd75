"""Source to meaning and back: grammar, integers, digits, layouts, records, tables."""
