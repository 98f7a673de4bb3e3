"""Tables on a terminal: with rich if it is installed and enabled, otherwise plain columns."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from diopi_proto.text import printable, write_output


def _cells(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return the cells as printable text; special characters of foreign text are escaped."""
    return [[printable(cell) for cell in row] for row in rows]


def table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table of plain columns, two spaces apart."""
    rows = _cells(rows)
    widths = [max(len(row[i]) for row in [headers, *rows]) for i in range(len(headers))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in [headers, *rows]
    ]
    return "\n".join(lines)


def show(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table. Files and pipes always get plain columns, so that scripts can read them."""
    if sys.stdout.isatty():
        try:
            from rich.console import Console
            from rich.table import Table
            from rich.text import Text
        except ImportError:
            pass
        else:
            pretty = Table(*headers, box=None, pad_edge=False)
            for row in _cells(rows):
                pretty.add_row(*(Text(cell) for cell in row))
            Console().print(pretty)
            return
    write_output(table(headers, rows) + "\n")
