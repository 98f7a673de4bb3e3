"""Reports about the graphs of this process."""
