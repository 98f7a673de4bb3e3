"""Comparison of the machine code of our GPU kernels with torch's, without a GPU: ``gpu-code``."""
