"""Timing of operators: clocks, spans, rooflines, reports."""
