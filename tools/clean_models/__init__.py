"""Ten models on a device that is right: neither `OneIter` nor `dl bisect` may accuse it.

Dropout, batch norm, autocast, activation checkpointing, optimizers that take lists; float32 and
bfloat16; free and with the trusted inputs forced. ``python -m tools.clean_models``, or
``tools/nox -s clean-models``.
"""
