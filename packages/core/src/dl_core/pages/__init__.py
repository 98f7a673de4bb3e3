"""HTML reports: pages and charts without external files, shared by all commands."""
