"""The engine ``codegen``: fused kernels for groups of calls, compiled by the kernel extension.

Elementwise operators and those along rows (:mod:`.expressions`, :mod:`.rows`) that have the same
rows (:mod:`.groups`) become one loop over these rows (:mod:`.loops`, :mod:`.dialect`): each tensor
is read once and written once, and intermediate results stay in registers or in a row's buffer.
Kernels are built in the background, while the executor runs the program until they are complete,
checked and measured as faster (:mod:`.racing`).
"""
