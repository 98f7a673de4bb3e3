"""Isolation of bundles of unknown origin: a child process with limits reads and runs them."""
