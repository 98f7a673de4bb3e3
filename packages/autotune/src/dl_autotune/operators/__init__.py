"""Tuning of operators: selection of the fastest of a vendor's implementations."""
