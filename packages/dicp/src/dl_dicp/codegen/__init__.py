"""The engine ``codegen``: groups of calls as C++ that the vendor's kernel extension compiles.

Elementwise operators and those along rows (:mod:`.expressions`, :mod:`.rows`) that have the same
rows (:mod:`.groups`) become one loop over these rows (:mod:`.loops`, :mod:`.text`): each tensor is
read once and written once, and what lives between calls stays in registers or in a row's buffer.
Kernels are built beside the program, which the executor runs until they are there, right, and
measured faster (:mod:`.racing`).
"""
