"""Operators that are forced to the CPU, and operators that use torch's decomposition."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from dl_core import _C
from dl_core.torch_backend.modes.layers import Layers
from dl_core.torch_backend.modes.names import matching, texts

Names = tuple[str, ...]

forced: frozenset[str] = frozenset()
"""All overloads, in all their forms, that are currently kept from the vendor."""


def _apply_forced(settings: list[Names]) -> None:
    global forced
    names = sorted({name for setting in settings for name in setting})
    _C.disable_native(names)
    forms = _C.operator_forms()
    forced = frozenset(form for name in names for form in (name, *forms.get(name, ())))


def _apply_decomposed(settings: list[Names]) -> None:
    _C.decompose(sorted({name for setting in settings for name in setting}))


_forced: Layers[Names] = Layers((), _apply_forced)
_decomposed: Layers[Names] = Layers((), _apply_decomposed)


def _native(api: str, patterns: Sequence[str] | str) -> list[str]:
    native = {name for index in range(_C.device_count()) for name in _C.native_operators(index)}
    forms = _C.operator_forms()
    return matching(
        api, texts(api, patterns), {name: (name, *forms.get(name, ())) for name in native}
    )


def set_forced(patterns: Sequence[str] | str) -> list[str]:
    """See :func:`dl_core.torch_backend.modes.set_force_fallback`."""
    found = _native("set_force_fallback", patterns)
    _forced.set(tuple(found))
    return found


@contextmanager
def forced_block(patterns: Sequence[str] | str) -> Iterator[list[str]]:
    """See :func:`dl_core.torch_backend.modes.force_fallback`."""
    found = _native("force_fallback", patterns)
    with _forced.block(tuple(found)):
        yield found


class _Decomposable(NamedTuple):
    found: list[str]
    """Operators that the patterns select."""
    refused: list[str]
    """Patterns that are names of operators without a composite implementation."""


def _decomposable(api: str, patterns: Sequence[str] | str) -> _Decomposable:
    wanted = texts(api, patterns)
    possible = _C.decomposable_operators()
    found = matching(api, wanted, {name: (name,) for name in possible})
    # A plain name without a match is a mistake, or a request that cannot be fulfilled.
    own = {name for index in range(_C.device_count()) for name in _C.native_overloads(index)}
    return _Decomposable(found, [name for name in wanted if name in own and name not in found])


def _all_decomposable(api: str, patterns: Sequence[str] | str) -> list[str]:
    found, refused = _decomposable(api, patterns)
    if refused:
        raise ValueError(f"[torch.dl.{api}] {_without_composite(refused[0])}")
    return found


def _without_composite(name: str) -> str:
    return (
        f"torch has no implementation of {name} that calls other operators, only kernels of "
        f"devices. torch.dl.force_fallback({name!r}) runs it on the CPU"
    )


def set_decomposed(patterns: Sequence[str] | str) -> list[str]:
    """See :func:`dl_core.torch_backend.modes.set_keep_default`."""
    found = _all_decomposable("set_keep_default", patterns)
    _decomposed.set(tuple(found))
    return found


def start_decomposed(patterns: Sequence[str]) -> list[str]:
    """Apply the patterns of a variable; return a sentence for each that torch cannot fulfill."""
    found, refused = _decomposable("set_keep_default", patterns)
    _decomposed.set(tuple(found))
    return [_without_composite(name) for name in refused]


@contextmanager
def decomposed_block(patterns: Sequence[str] | str) -> Iterator[list[str]]:
    """See :func:`dl_core.torch_backend.modes.keep_default`."""
    found = _all_decomposable("keep_default", patterns)
    with _decomposed.block(tuple(found)):
        yield found
