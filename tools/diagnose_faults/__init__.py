"""Faults in a vendor's library that `dl diagnose` must find.

A vendor library forwards to the CPU vendor's and corrupts one contract operator by an action
(`spoil.hpp`) under a condition (`conditions.hpp`). The faults of `faults.yaml` are hand-picked;
`combinations.py` adds each action under each condition, over the operators of `sites.yaml`. For
every fault a program runs on that device under `dl diagnose`, which must name this operator
alone.
``python -m tools.diagnose_faults``, or ``tools/nox -s diagnose-faults``.
"""
