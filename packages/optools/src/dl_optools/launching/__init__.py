"""Execution of programs with tools on, from their import of torch to their end."""
