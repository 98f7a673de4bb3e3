"""Reports for the browser."""
