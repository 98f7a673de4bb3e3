"""Reports for the browser: pages and charts that need no other file, which commands share."""
