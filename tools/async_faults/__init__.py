"""Faults of a vendor's streams, events, copies and operators that the conformance suite must find.

A vendor library forwards to an asynchronous one and corrupts one action of its runtime
(`vendor.cpp`). For each fault of `faults.yaml` the suite's asynchronous checks run on that library:
at least one check must fail with a sentence that begins with the faulty slot, and none may blame
another slot. On libraries without a fault, no check may fail. ``python -m tools.async_faults``, or
``tools/nox -s async-faults``.
"""
