"""Selection of operators by name patterns, for the variables and functions of modes."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Mapping, Sequence

import torch

from dl_core.config import split_list

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
"""Operators that torch decomposes before a device sees them, with their decompositions."""


def texts(api: str, patterns: Sequence[str] | str) -> tuple[str, ...]:
    """Return patterns as a tuple; a string is parsed like the environment variables.

    :raises TypeError: it is neither a string nor a sequence of strings.
    """
    if isinstance(patterns, str):
        return split_list(patterns)
    if isinstance(patterns, Collection) and all(isinstance(text, str) for text in patterns):
        return tuple(patterns)
    raise TypeError(
        f"[torch.dl.{api}] expected patterns as a sequence of strings or one comma-separated "
        f"string, got {patterns!r}"
    )


def matching(
    api: str, patterns: Iterable[str], operators: Mapping[str, Iterable[str]]
) -> list[str]:
    """Return the ``operators`` with a name that a pattern matches as a whole, sorted.

    :param operators: the names of each operator, including its own.
    :raises ValueError: a pattern is invalid, or matching takes too long.
    """
    from dl_core.patterns import PatternError, match_names  # rarely needed at startup

    all_names = {name: tuple(names) for name, names in operators.items()}
    try:
        found = match_names(patterns, {*_PARTS, *(x for each in all_names.values() for x in each)})
    except PatternError as error:
        raise ValueError(f"[torch.dl.{api}] {error}") from None
    found |= {part for whole, parts in _PARTS.items() if whole in found for part in parts}
    return sorted(name for name, names in all_names.items() if not found.isdisjoint(names))


def describe_unknown(patterns: Iterable[str]) -> list[str]:
    """Return a sentence for each pattern that matches no operator of torch; it may be misspelled.

    :raises PatternError: as :func:`matching`.
    """
    from dl_core.patterns import match_names  # rarely needed at startup

    names = {name.removeprefix("aten::") for name in torch._C._dispatch_get_all_op_names()}
    unknown = [pattern for pattern in patterns if not match_names([pattern], names)]
    return [f"{pattern!r} matches no operator; {_remedy(pattern, names)}" for pattern in unknown]


def _remedy(pattern: str, names: Iterable[str]) -> str:
    # A name without its overload is closest to an overload of it.
    similar = difflib.get_close_matches(pattern, {*names}, n=1, cutoff=0.75)
    overloads = sorted(name for name in names if name.startswith(f"{pattern}."))
    if overloads:
        return f"did you mean {overloads[0]}, or '{pattern}.*' for all overloads?"
    if similar:
        return f"did you mean {similar[0]}?"
    return "names are those of torch's overloads, such as add.Tensor"
