"""Operators as data: a vendor whose chip has an operator library.

A vendor's folder contains ``library.yaml``, a signature table and ``operators/*.yaml``, which
describe each operator of the contract by calls of the library.
:mod:`dl_vendor_kit.library.check` compares them with the contract's schema and the signatures, and
``python -m dl_vendor_kit.library`` generates the C++ sources.
``docs/library-format.md`` of this package is the reference.
"""
