"""How long operators take: clocks, spans, rooflines, reports."""
