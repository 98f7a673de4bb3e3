"""Bundles of unknown origin are read and run in a child: its limits and its end harm nobody."""
