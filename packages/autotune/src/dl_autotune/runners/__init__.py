"""Execution: workers that may be lost, the database of trials, and the run as a whole."""
