"""Differential fuzzing: seeded random operator calls on dl, compared with torch's CPU.

``python -m operator_fuzz`` in ``tests`` runs a session; see :mod:`operator_fuzz.__main__`. A call
is a sample of an operator whose dtypes, shapes, strides, values and options were changed at random.
Results, dtypes, strides, aliasing and errors must equal the CPU's; every difference either has a
cause in :mod:`operator_fuzz.causes` or fails the session.
"""
