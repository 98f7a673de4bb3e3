"""Capture of operator calls as bundles while the program runs."""
