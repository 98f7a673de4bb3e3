"""Helpers and constants of the sessions in noxfile.py; they import only nox."""
