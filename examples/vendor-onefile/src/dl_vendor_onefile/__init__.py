"""A vendor as an example: one C++ file on dl-vendor-kit."""
