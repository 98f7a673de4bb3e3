"""Tuning of operators: which of a vendor's implementations serves a call fastest."""
