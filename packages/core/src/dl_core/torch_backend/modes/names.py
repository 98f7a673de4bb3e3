"""Operators by patterns over their names, as the variables and functions of modes take them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from dl_core.config import listed

_PARTS = {
    **dict.fromkeys(("conv1d", "conv2d", "conv3d"), ("convolution", "convolution_backward")),
    "conv_transpose1d": ("convolution", "convolution_backward"),
    "conv_transpose2d.input": ("convolution", "convolution_backward"),
    "conv_transpose3d.input": ("convolution", "convolution_backward"),
    "dropout": ("native_dropout", "native_dropout_backward"),
    "dropout_": ("native_dropout", "native_dropout_backward"),
    "linear": ("linear", "linear_backward", "addmm", "mm"),
    "cross_entropy_loss": ("_log_softmax", "nll_loss_forward", "nll_loss2d_forward"),
}
"""What torch makes of operators that it takes apart before any device sees them."""


def texts(api: str, patterns: Sequence[str] | str) -> tuple[str, ...]:
    """Patterns as a tuple: a text is read as the variables are.

    :raises TypeError: it is neither a text nor a sequence of texts.
    """
    if isinstance(patterns, str):
        return listed(patterns)
    if isinstance(patterns, Collection) and all(isinstance(text, str) for text in patterns):
        return tuple(patterns)
    raise TypeError(
        f"[torch.dl.{api}] expected patterns as a sequence of texts, or one text with commas "
        f"between, got {patterns!r}"
    )


def matching(
    api: str, patterns: Iterable[str], operators: Mapping[str, Iterable[str]]
) -> list[str]:
    """Return the operators that have a matching name, sorted.

    :param operators: all names of each operator, its own included.
    :raises ValueError: a pattern is not a regular expression, or matching takes too long.
    """
    from dl_core.patterns import PatternError, match_names  # rarely needed at startup

    all_names = {name: tuple(names) for name, names in operators.items()}
    try:
        found = match_names(patterns, {*_PARTS, *(x for each in all_names.values() for x in each)})
    except PatternError as error:
        raise ValueError(f"[torch.dl.{api}] {error}") from None
    found |= {part for whole, parts in _PARTS.items() if whole in found for part in parts}
    return sorted(name for name, names in all_names.items() if not found.isdisjoint(names))
