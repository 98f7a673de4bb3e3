"""Random invalid input, generated from a seed: foreign data must neither crash, hang nor run code.

``python -m fuzz`` in ``tests`` runs all kinds; see :mod:`fuzz.__main__`. Each kind of input is a
module with a :class:`~fuzz.kind.Kind`; a child process runs many cases, and the runner watches it.
"""
