"""References of operators: a module for each family of the schema, or several."""
