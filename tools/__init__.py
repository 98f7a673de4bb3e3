"""Programs of this repository's sessions; none of them is part of a wheel."""
