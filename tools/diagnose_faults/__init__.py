"""Faults in a vendor's library, which `dl diagnose` has to name.

A vendor library forwards to the CPU vendor's and spoils one operator of the contract by an action
(`spoil.hpp`) under a condition (`conditions.hpp`). The faults of `faults.yaml` were chosen by hand;
`combinations.py` adds each action under each condition, over the operators of `sites.yaml`. Every
fault meets a program on that device under `dl diagnose`, which has to name the operator, and no
other.
``python -m tools.diagnose_faults``, or ``tools/nox -s diagnose-faults``.
"""
