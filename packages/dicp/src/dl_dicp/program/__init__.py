"""Compiled programs: contract graphs with host calls between them, and checks of their results."""
