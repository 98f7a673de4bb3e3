"""One training step on a trusted device and on one under test, side by side."""
