"""Options of the commands that read bundles, and the workers for them. Imports no torch."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any, Protocol

from diopi_proto.text import printable
from dl_optools.isolation.answer import REFUSED, Answer
from dl_optools.isolation.child import work_of
from dl_optools.isolation.limits import SECONDS, Limits, default_memory
from dl_optools.isolation.worker import UnusableError, Worker
from dl_optools.option_types import seconds
from dl_optools.options import SIZES, nbytes


class Asked(Protocol):
    """Worker that handles requests about bundles."""

    def ask(self, work: str, path: str, **arguments: Any) -> Answer: ...

    def close(self) -> None: ...


def add_limits(parser: argparse.ArgumentParser, style: str = "-") -> None:
    """Add the options that :func:`worker_of` reads.

    :param style: separator between the words of an option.
    """
    group = parser.add_argument_group(
        "bundles of unknown origin",
        "Each is read and run in a process of its own with limits on memory and time, which can "
        "write no files. If that process dies, that is the verdict on the bundle.",
    )
    group.add_argument(
        f"--memory{style}limit",
        type=_size,
        metavar="BYTES",
        help="memory limit per bundle, such as 4G (default: half of what is free)",
    )
    group.add_argument(
        "--timeout",
        type=seconds,
        default=SECONDS,
        metavar="SECONDS",
        help="maximum time per bundle (default: %(default)g)",
    )
    group.add_argument(
        "--trusted",
        action="store_true",
        help="trust the bundles: work in this process, and run unsafe calls, too",
    )


def _size(text: str) -> int:
    try:
        return nbytes(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not {SIZES}") from None


def worker_of(
    arguments: argparse.Namespace,
    *,
    name: str,
    device: str | None = None,
    imports: Sequence[str] = (),
    writes: bool = False,
) -> Asked:
    """Return a child with the limits of the command line; with ``--trusted`` this process.

    :param name: name of the command, for errors.
    :param device: device that the work uses; ``""``: the accelerator, or else the CPU. None: none.
    :param imports: modules that the work uses.
    :param writes: the work may write files.
    """
    memory = arguments.memory_limit or default_memory()
    if arguments.trusted:
        return _Here(memory, name, device)
    limits = Limits(memory, arguments.timeout)
    return Worker(limits, device=device, name=name, imports=imports, writes=writes)


class _Here:
    """Does the work in this process, where memory is limited only by the bundle's estimate."""

    def __init__(self, memory: int, name: str, device: str | None) -> None:
        self._memory = memory
        self._name, self._device = name, device

    def ask(self, work: str, path: str, **arguments: Any) -> Answer:
        if self._device is not None:
            from dl_optools.tool import check_device, resolve_device

            try:
                check_device(resolve_device(self._device).partition(":")[0], self._name)
            except ValueError as error:
                raise UnusableError(str(error)) from None
        return work_of(work)(path=path, memory=self._memory, **arguments)

    def close(self) -> None:
        pass


def show_texts(answer: Answer) -> int:
    """Write the lines below a table, and errors.

    :returns: the exit code.
    """
    for line in answer.lines:
        sys.stdout.write(f"{printable(line)}\n")
    for error in answer.errors:
        sys.stderr.write(f"dl: {printable(error)}\n")
    return answer.code


def refuse(text: str) -> int:
    sys.stderr.write(f"dl: {printable(text)}\n")
    return REFUSED
