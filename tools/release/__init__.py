"""Checks of a release: metadata, sdists, wheels, installation by name; and the bump of versions."""
