"""What `dl diagnose` finds of faults in a vendor's library.

A vendor library forwards to the CPU vendor's and spoils one operator of the contract: by value, by
place, by call, by chance, or in what it draws (`spoil.hpp`). Each fault of `faults.yaml` meets a
program on that device under `dl diagnose`, which has to name the operator, and no other.
``python -m tools.diagnose_faults``, or ``tools/nox -s diagnose-faults``.
"""
