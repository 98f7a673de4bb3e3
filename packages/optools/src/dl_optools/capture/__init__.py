"""Calls of operators written as bundles, beside the program."""
