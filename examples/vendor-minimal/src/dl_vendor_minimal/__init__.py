"""A minimal vendor of dl, from which a new vendor can start."""
