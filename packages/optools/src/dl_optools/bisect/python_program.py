"""Recognition of command lines that run a Python program, and their parts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_ALONE = re.compile(r"-[bBdEOqsSuv]+")
_WITH_VALUE = ("-W", "-X")


@dataclass(frozen=True)
class PythonProgram:
    """A program that one interpreter runs.

    :ivar interpreter: the interpreter and its options.
    :ivar kind: ``file``, ``module`` or ``code``.
    :ivar what: the file's path, the module's name, or the code.
    :ivar arguments: the program's arguments.
    """

    interpreter: tuple[str, ...]
    kind: str
    what: str
    arguments: tuple[str, ...]


def parse_command(command: Sequence[str]) -> PythonProgram | None:
    """Parse a command line; None if it does not run Python or runs a launcher of interpreters."""
    if not command or not re.fullmatch(r"python[\d.]*", Path(command[0]).name):
        return None
    interpreter, rest = [command[0]], list(command[1:])
    while rest and rest[0].startswith("-") and rest[0] != "-":
        option = rest.pop(0)
        if option in ("-m", "-c") and rest:
            what = rest.pop(0)
            if option == "-c":
                return PythonProgram(tuple(interpreter), "code", what, tuple(rest))
            return _parse_module(interpreter, what, rest)
        if option in _WITH_VALUE and rest:
            interpreter += [option, rest.pop(0)]
        elif _ALONE.fullmatch(option) or option[:2] in _WITH_VALUE:
            interpreter.append(option)
        else:
            return None
    if not rest or rest[0] == "-":
        return None
    return PythonProgram(tuple(interpreter), "file", rest[0], tuple(rest[1:]))


def _parse_module(interpreter: list[str], name: str, rest: list[str]) -> PythonProgram | None:
    if name.startswith("torch.distributed"):
        return None
    return PythonProgram(tuple(interpreter), "module", name, tuple(rest))
