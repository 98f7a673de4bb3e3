"""Random wrong input, from a seed: what comes from others must neither crash, hang nor run code.

``python -m fuzz`` in ``tests`` runs all of it; see :mod:`fuzz.__main__`. Each kind of input is a
module with a :class:`~fuzz.kind.Kind`; cases run many to a child process, which the runner watches.
"""
