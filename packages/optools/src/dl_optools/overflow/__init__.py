"""Where nan and inf come from."""
