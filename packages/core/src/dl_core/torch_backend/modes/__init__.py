"""Modes of the dispatcher: operators that run elsewhere or decomposed, are compared, or logged.

Each mode is enabled by an environment variable at the start, or later by a function or context
manager. An operator that no mode has selected runs exactly the code that it runs without modes.
Implementations are imported at their first use, because every program imports this module.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dl_core.config import Config
    from dl_core.torch_backend.modes.comparing import Report

__all__ = [
    "autocompare",
    "dump_op_args",
    "force_fallback",
    "keep_default",
    "set_autocompare",
    "set_dump_op_args",
    "set_force_fallback",
    "set_keep_default",
]

Patterns = Sequence[str] | str


def set_force_fallback(patterns: Patterns) -> list[str]:
    """Run operators on the CPU even if the vendor implements them; return their names.

    :param patterns: regular expressions. One of them must match the whole name of the operator
        (``add.Tensor``) or of another of its forms (``add.out``, ``add_.Tensor``), because the
        forms of an operator share their code. The patterns replace those of an earlier call; an
        empty sequence disables the mode. A string is parsed like ``DL_FORCE_FALLBACK``:
        comma-separated patterns.
    :raises TypeError: ``patterns`` is neither a string nor a sequence of strings.
    :raises ValueError: a pattern is invalid, or matching takes too long.
    """
    from dl_core.torch_backend.modes import forcing

    return forcing.set_forced(patterns)


def force_fallback(patterns: Patterns) -> AbstractContextManager[list[str]]:
    """Context manager and decorator that forces more operators to the CPU within the block.

    >>> with torch.dl.force_fallback("add.out,conv2d"):  # doctest: +SKIP
    ...     model(batch)

    :raises TypeError: as :func:`set_force_fallback`.
    :raises ValueError: as :func:`set_force_fallback`.
    """
    from dl_core.torch_backend.modes import forcing

    return forcing.forced_block(patterns)


def set_keep_default(patterns: Patterns) -> list[str]:
    """Run torch's own composite implementation of operators for which dl-core has a kernel; return
    their names. The implementation runs on the device if the operators that it calls do.

    :param patterns: as in :func:`set_force_fallback`; they match names of overloads.
    :raises TypeError: ``patterns`` is neither a string nor a sequence of strings.
    :raises ValueError: a pattern is invalid, or names an operator for which torch has no composite
        implementation.
    """
    from dl_core.torch_backend.modes import forcing

    return forcing.set_decomposed(patterns)


def keep_default(patterns: Patterns) -> AbstractContextManager[list[str]]:
    """Context manager and decorator that decomposes more operators within the block.

    :raises TypeError: as :func:`set_keep_default`.
    :raises ValueError: as :func:`set_keep_default`.
    """
    from dl_core.torch_backend.modes import forcing

    return forcing.decomposed_block(patterns)


def set_autocompare(patterns: Patterns, action: str = "warn", level: int = 0) -> list[str]:
    """Compare every result of the selected operators with the CPU's from now on, in all threads;
    see :func:`autocompare`. Return the operators' names; an empty sequence disables the mode.

    :raises TypeError: the patterns are neither a string nor a sequence of strings.
    :raises ValueError: a pattern is invalid, or the action or level does not exist.
    """
    from dl_core.torch_backend.modes import comparing

    return comparing.set_process(patterns, action, level)


def autocompare(
    patterns: Patterns = ".*", action: str = "warn", level: int = 0
) -> AbstractContextManager[Report]:
    """Context manager and decorator that compares all results of operators with the CPU's.

    Outputs, arguments that an operator writes to, and gradients (because autograd calls operators
    too) are compared with the CPU's results on copies of the arguments, within the rounding bound
    of :mod:`diopi_proto.tolerance`. Arguments that the operator may only read must not change.
    Views and random operators are not compared.

    >>> with torch.dl.autocompare("add.*,convolution.*") as report:  # doctest: +SKIP
    ...     model(batch).sum().backward()
    >>> [finding.operator for finding in report.wrong]  # doctest: +SKIP
    []

    :param patterns: operators, as in :func:`set_force_fallback`.
    :param action: ``warn``: log a message to the logger ``dl_core.autocompare`` for each wrong
        call; ``raise``: raise :class:`dl_core.errors.WrongResultError` from the call.
    :param level: 1: write a line for each compared call to stderr, which contains ``allclose`` or
        ``not_close``; 0: no lines.
    :raises TypeError: as :func:`set_autocompare`.
    :raises ValueError: as :func:`set_autocompare`.
    """
    from dl_core.torch_backend.modes import comparing

    return comparing.block(patterns, action, level)


def set_dump_op_args(level: int, patterns: Patterns = ".*") -> list[str]:
    """Log the arguments of operators to stderr, in all threads. Return the operators' names.

    :param level: 0 disables logging; 1 logs names, 2 arguments, 3 their values, which are copied to
        host.
    :param patterns: operators, as in :func:`set_force_fallback`.
    :raises TypeError: the patterns are neither a string nor a sequence of strings.
    :raises ValueError: the level does not exist, or a pattern is invalid.
    """
    from dl_core.torch_backend.modes import dumping

    return dumping.set_process(level, patterns)


def dump_op_args(level: int = 2, patterns: Patterns = ".*") -> AbstractContextManager[list[str]]:
    """Context manager and decorator that logs operators within the block. For each operator, the
    innermost block that names it determines the level.

    >>> with torch.dl.dump_op_args(2, "add.*"):  # doctest: +SKIP
    ...     model(batch)

    :raises TypeError: as :func:`set_dump_op_args`.
    :raises ValueError: as :func:`set_dump_op_args`.
    """
    from dl_core.torch_backend.modes import dumping

    return dumping.block(level, patterns)


def start(config: Config) -> list[str]:
    """Enable the modes that the settings request; return a sentence for each that cannot be
    enabled.
    """
    problems: list[str] = []
    wanted: list[tuple[str, bool, Callable[[], Any]]] = [
        (
            "DL_FORCE_FALLBACK",
            bool(config.force_fallback),
            lambda: set_force_fallback(config.force_fallback),
        ),
        (
            "DL_KEEP_TORCHOP_DEFAULT_IMPL_OPS",
            bool(config.keep_default),
            lambda: problems.extend(_keep_entries(config)),
        ),
        (
            "DL_AUTOCOMPARE",
            bool(config.autocompare),
            lambda: set_autocompare(
                config.autocompare, config.autocompare_action, config.autocompare_level
            ),
        ),
        (
            "DL_DUMP_OP_ARGS",
            config.dump_op_args > 0,
            lambda: set_dump_op_args(config.dump_op_args),
        ),
    ]
    for variable, given, switch_on in wanted:
        try:
            if given:
                switch_on()
        except ValueError as error:
            problems.append(f"{variable} is ignored: {error}.")
    return [*problems, *_unknown_entries(config)]


_LISTS = ("force_fallback", "keep_default", "autocompare")
"""Settings that are lists of operators."""


def _unknown_entries(config: Config) -> list[str]:
    """Return a sentence for each entry of a list that matches no operator."""
    from dl_core.config import VARIABLES
    from dl_core.patterns import PatternError

    problems = []
    for variable in VARIABLES:
        name = next((name for name in variable.names if name in config.sources), "")
        patterns = getattr(config, variable.field) if name else ()
        if variable.field not in _LISTS or not patterns:
            continue
        from dl_core.torch_backend.modes import names

        # An entry that cannot be matched has its own problem.
        with contextlib.suppress(PatternError):
            problems += [f"{name}: {each}." for each in names.describe_unknown(patterns)]
    return problems


def _keep_entries(config: Config) -> list[str]:
    """Apply ``DL_KEEP_TORCHOP_DEFAULT_IMPL_OPS`` and return the problems of its entries.

    DIPU's variable excludes operators from DIPU's own implementations on the CPU. dl has none, so
    such an entry is fulfilled even if torch has no composite implementation of the operator.
    """
    from dl_core.torch_backend.modes import forcing

    variable = "DL_KEEP_TORCHOP_DEFAULT_IMPL_OPS"
    refused = forcing.start_decomposed(config.keep_default)
    if variable not in config.sources:
        return []
    return [f"{variable}: an entry is ignored: {reason}." for reason in refused]
