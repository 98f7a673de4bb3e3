"""Cases as data: a module for each family of the schema, or several that begin with its name."""
