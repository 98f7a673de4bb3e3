"""Check of the project's English: terms of the field, first lines that name their subject."""
