"""Comparison of operators with a reference: replay on the CPU, tolerances, reports."""
