"""Helpers and constants of the sessions in noxfile.py; they import nothing but nox."""
