"""A minimal vendor of dl, to start one's own from."""
