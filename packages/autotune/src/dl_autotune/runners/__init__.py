"""Execution: worker processes, the database of trials, and the tuning run."""
