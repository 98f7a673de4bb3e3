"""Examples of the site's pages: the programs and commands that a reader would run.

A page in docs/ is a sequence of blocks. ```` ```python title="NAME" ```` writes a file, and
```` ```console ```` runs the lines that begin with ``$``; the other lines are output that must
appear, in this order. A block below ``<!-- not run: REASON -->`` is skipped. Other Python blocks
run as programs. Every other block needs a title or a reason, except ``text``, which shows output.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

_BLOCK = re.compile(
    r"(?:<!-- not run: (?P<reason>[^>]+?) -->\s*\n\s*)?"
    r"^```(?P<language>\w+)(?: title=\"(?P<title>[^\"]+)\")?\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Command:
    """A command line, and the lines of its output that a page shows."""

    line: str
    output: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Block:
    """A block of a page.

    :ivar title: path of the file that the block is the text of.
    :ivar reason: the reason why the block does not run.
    """

    language: str
    text: str
    title: str | None = None
    reason: str | None = None

    def commands(self) -> list[Command]:
        """Return the command lines of a console block."""
        found: list[Command] = []
        for line in self.text.splitlines():
            if line.startswith("$ "):
                found.append(Command(line[2:]))
            elif line.strip() and found:
                found[-1].output.append(line.strip())
        return found


def blocks(path: Path) -> list[Block]:
    """Return the blocks of a page in order."""
    return [
        Block(x["language"], x["text"], x["title"], x["reason"])
        for x in _BLOCK.finditer(path.read_text("utf-8"))
    ]


_FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
# The line is not consumed, because it is before the next one of its block.
_INDENTED = re.compile(r"(?P<before>[^\n]*)\n\n(?=(?P<line>    \S[^\n]*))")


def unexplained(path: Path) -> list[str]:
    """Return the first lines of blocks that neither run nor have a reason why not."""
    found = [
        block.text.partition("\n")[0]
        for block in blocks(path)
        if block.language not in ("python", "console", "text") and not (block.title or block.reason)
    ]
    prose = _FENCED.sub("", path.read_text("utf-8"))
    for match in _INDENTED.finditer(prose):
        if not match["before"].startswith(("<!-- not run: ", "    ")):
            found.append(match["line"].strip())
    return found


def missing_output(command: Command, output: str) -> str | None:
    """Return the first line that a page shows and that the output does not have in this order."""
    left = iter(line.strip() for line in output.splitlines())
    return next((line for line in command.output if line not in left), None)
