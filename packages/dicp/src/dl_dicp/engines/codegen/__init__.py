"""The engine ``codegen``: fused kernels for groups of calls, compiled by the kernel extension.

Elementwise and row-wise operators (:mod:`.expressions`, :mod:`.rows`) with the same rows
(:mod:`.groups`) become one loop over these rows (:mod:`.loops`, :mod:`.dialect`). Each tensor is
read once and written once; intermediate results stay in registers or in a row's buffer. Kernels are
built in the background. The executor runs the graph until the kernels are built, checked and
measured to be faster (:mod:`.racing`).
"""
