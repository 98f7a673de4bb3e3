"""Faults that are put into our own kernels, each of which the checks without a GPU have to find.

    python -m tools.gpu_faults [--half simulator|emulation] [--sample N] [NAME...]

A mutation of ``mutations.yaml`` is applied to a copy of its header, the one family that shows it is
compiled, and a call runs on dl-gpu-sim (nvcc's PTX) or on the emulated GPU (g++). What is found has
to be what the table says, in the kernel and, on the simulator, at the line that it says; the same
call on kernels as they are has to be clean.
"""
