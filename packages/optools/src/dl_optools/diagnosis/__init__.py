"""One command that says which operator is wrong, how that was seen, and how to go on without it."""
