"""A vendor for tests: one C++ file on dl-vendor-kit."""
