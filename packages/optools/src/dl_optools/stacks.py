"""The program's part of the Python stack, without the frames of torch and of this package."""

from __future__ import annotations

import functools
import linecache
import os
import sys
from dataclasses import dataclass
from types import CodeType, FrameType

import torch

_FOREIGN = tuple(
    os.path.join(os.path.dirname(os.path.abspath(path)), "")  # noqa: PTH118, PTH120, PTH100 - text
    for path in (__file__, torch.__file__)
)


@dataclass(frozen=True)
class Frame:
    """One line of the running program."""

    file: str
    line: int
    function: str
    code: str
    """The source line; empty if the source is not available."""

    def __str__(self) -> str:
        return f"{self.file}:{self.line} in {self.function}: {self.code}".rstrip(": ")


@functools.lru_cache(maxsize=4096)
def _is_foreign(code: CodeType) -> bool:
    file = code.co_filename
    return file.startswith(_FOREIGN) or file.startswith("<")


def program_stack(depth: int = 16) -> tuple[Frame, ...]:
    """Return the innermost frames of the program, the caller of torch first; at most ``depth``.

    Empty if there are none, as in threads of autograd.
    """
    found: list[Frame] = []
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and len(found) < depth:
        code = frame.f_code
        if not _is_foreign(code):
            text = linecache.getline(code.co_filename, frame.f_lineno).strip()
            name = code.co_qualname if sys.version_info >= (3, 11) else code.co_name
            found.append(Frame(code.co_filename, frame.f_lineno, name, text))
        frame = frame.f_back
    return tuple(found)
