"""Search for the operators that make a program wrong, by running it repeatedly."""
