"""The operators that make a program wrong, found by running it again and again."""
