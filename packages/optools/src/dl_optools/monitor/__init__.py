"""Memory of a process and of devices over time."""
