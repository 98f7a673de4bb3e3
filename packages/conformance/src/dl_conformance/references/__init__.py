"""What operators have to give: a module for each family of the schema."""
