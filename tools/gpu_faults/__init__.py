"""Faults in our own kernels that the checks without a GPU must find.

    python -m tools.gpu_faults [--half simulator|emulation] [--sample N] [NAME...]

A mutation of ``mutations.yaml`` is applied to a copy of its header, the family that shows it is
compiled, and a call runs on dl-gpu-sim (nvcc's PTX) or on the emulated GPU (g++). The finding must
match the table, in the kernel and, on the simulator, at the given line; the same call of unchanged
kernels must have no finding.
"""
