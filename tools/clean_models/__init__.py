"""Ten models on a correct device: neither `OneIter` nor `dl bisect` may report an error.

Dropout, batch norm, autocast, activation checkpointing, optimizers on lists; float32 and bfloat16;
with and without the trusted inputs forced. ``python -m tools.clean_models``, or ``tools/nox -s
clean-models``.
"""
