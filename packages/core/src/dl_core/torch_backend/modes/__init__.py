"""Modes of the dispatcher: which operators run elsewhere, are compared, or are written down.

Each is switched by a variable at the start and by a function or a context manager later. An
operator that no mode has chosen runs exactly the code that it runs where there are no modes. What
does the work is imported when it is first used: all programs start with this module.
"""

from __future__ import annotations

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
    """Run operators on the CPU although the vendor has them; returns their names.

    :param patterns: regular expressions, of which one must match
        a whole name, ``add.Tensor``, or that of another form of it, ``add.out``, ``add_.Tensor``:
        the forms of an operator share their code and go together. They replace those of an earlier
        call, so that an empty sequence ends it. A text is read as ``DL_FORCE_FALLBACK`` is:
        patterns with commas between.
    :raises TypeError: it is neither a text nor a sequence of texts.
    :raises ValueError: a pattern is no such expression, or matching takes too long.
    """
    from dl_core.torch_backend.modes import forcing

    return forcing.set_forced(patterns)


def force_fallback(patterns: Patterns) -> AbstractContextManager[list[str]]:
    """Context manager and decorator: the same for a while, on top of what is forced already.

    >>> with torch.dl.force_fallback("add.out,conv2d"):  # doctest: +SKIP
    ...     model(batch)

    :raises TypeError: as :func:`set_force_fallback`.
    :raises ValueError: as :func:`set_force_fallback`.
    """
    from dl_core.torch_backend.modes import forcing

    return forcing.forced_block(patterns)


def set_keep_default(patterns: Patterns) -> list[str]:
    """Leave operators to torch's own implementation out of others, though dl-core has a kernel for
    them; returns their names. It runs on the device, as far as those it is made of do.

    :param patterns: as those of :func:`set_force_fallback`; they are names of overloads.
    :raises TypeError: it is neither a text nor a sequence of texts.
    :raises ValueError: a pattern is no such expression, or names an operator of which torch has
        nothing but kernels of devices.
    """
    from dl_core.torch_backend.modes import forcing

    return forcing.set_kept(patterns)


def keep_default(patterns: Patterns) -> AbstractContextManager[list[str]]:
    """Context manager and decorator: the same for a while, on top of what is left to torch already.

    :raises TypeError: as :func:`set_keep_default`.
    :raises ValueError: as :func:`set_keep_default`.
    """
    from dl_core.torch_backend.modes import forcing

    return forcing.kept_block(patterns)


def set_autocompare(patterns: Patterns, action: str = "warn") -> list[str]:
    """Compare every result of operators with the CPU's from now on, in all threads; see
    :func:`autocompare`. Returns their names; an empty sequence ends it.

    :raises TypeError: the patterns are neither a text nor a sequence of texts.
    :raises ValueError: a pattern is not a regular expression, or the action is unknown.
    """
    from dl_core.torch_backend.modes import comparing

    return comparing.set_process(patterns, action)


def autocompare(patterns: Patterns = ".*", action: str = "warn") -> AbstractContextManager[Report]:
    """Context manager and decorator: compare every result of operators with the CPU's for a while.

    Outputs, arguments that an operator writes to, and, since autograd runs operators too, gradients
    are compared with what the CPU computes from copies of the arguments, within the rounding bound
    of :mod:`diopi_proto.tolerance`. Arguments that it may only read must be what they were. Views
    are not compared, nor is what draws random numbers.

    >>> with torch.dl.autocompare("add.*,convolution.*") as report:  # doctest: +SKIP
    ...     model(batch).sum().backward()
    >>> [finding.operator for finding in report.wrong]  # doctest: +SKIP
    []

    :param patterns: which operators, as :func:`set_force_fallback` takes them.
    :param action: ``warn``: some lines to the logger ``dl_core.autocompare`` for each call that is
        wrong; ``raise``: :class:`dl_core.errors.WrongResultError` out of the call.
    :raises TypeError: as :func:`set_autocompare`.
    :raises ValueError: as :func:`set_autocompare`.
    """
    from dl_core.torch_backend.modes import comparing

    return comparing.block(patterns, action)


def set_dump_op_args(level: int, patterns: Patterns = ".*") -> list[str]:
    """Write down what operators are called with, on stderr, in all threads. Returns their names.

    :param level: 0 ends it, 1 names, 2 arguments, 3 their values, which takes a copy to the host.
    :param patterns: which operators, as :func:`set_force_fallback` takes them.
    :raises TypeError: the patterns are neither a text nor a sequence of texts.
    :raises ValueError: the level is unknown, or a pattern is not a regular expression.
    """
    from dl_core.torch_backend.modes import dumping

    return dumping.set_process(level, patterns)


def dump_op_args(level: int = 2, patterns: Patterns = ".*") -> AbstractContextManager[list[str]]:
    """Context manager and decorator: the same for a while; the innermost block that names an
    operator decides.

    >>> with torch.dl.dump_op_args(2, "add.*"):  # doctest: +SKIP
    ...     model(batch)

    :raises TypeError: as :func:`set_dump_op_args`.
    :raises ValueError: as :func:`set_dump_op_args`.
    """
    from dl_core.torch_backend.modes import dumping

    return dumping.block(level, patterns)


def start(config: Config) -> list[str]:
    """Switch on what the variables ask for; returns a sentence for each that cannot be done."""
    wanted: list[tuple[str, bool, Callable[[], Any]]] = [
        (
            "DL_FORCE_FALLBACK",
            bool(config.force_fallback),
            lambda: set_force_fallback(config.force_fallback),
        ),
        (
            "DL_KEEP_TORCHOP_DEFAULT_IMPL_OPS",
            bool(config.keep_default),
            lambda: set_keep_default(config.keep_default),
        ),
        (
            "DL_AUTOCOMPARE",
            bool(config.autocompare),
            lambda: set_autocompare(config.autocompare, config.autocompare_action),
        ),
        (
            "DL_DUMP_OP_ARGS",
            config.dump_op_args > 0,
            lambda: set_dump_op_args(config.dump_op_args),
        ),
    ]
    problems = []
    for variable, given, switch_on in wanted:
        try:
            if given:
                switch_on()
        except ValueError as error:
            problems.append(f"{variable} is ignored: {error}.")
    return problems
