"""Programs of this repository's sessions, which are not part of a wheel."""
