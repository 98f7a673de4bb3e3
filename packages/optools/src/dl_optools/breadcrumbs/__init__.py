"""Record of the operator that each thread of a program runs, in files that survive the process."""
