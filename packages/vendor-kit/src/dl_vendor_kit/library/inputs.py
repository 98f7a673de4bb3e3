"""Reader of text files of limited size."""

from __future__ import annotations

import stat
from pathlib import Path

from .located import DataError, Place


def read_text(file: Path, shown: str, most: int) -> str:
    """Return the contents of a file.

    :param shown: the path in findings.
    :param most: maximum size in bytes.
    :raises DataError: this is not a readable file of UTF-8 text, or it is too large.
    """
    try:
        # A pipe or device may never end.
        if not stat.S_ISREG(file.stat().st_mode):
            raise _error(shown, "is not a file; name a file")
        with file.open("rb") as opened:
            data = opened.read(most + 1)
    except OSError as error:
        raise _error(
            shown, f"cannot be read: {error.strerror}; correct the path or the file's permissions"
        ) from error
    except (ValueError, RuntimeError) as error:
        # A NUL in the path, or a loop of links.
        raise _error(shown, f"is not a path: {error}; correct it") from error
    if len(data) > most:
        raise _error(shown, f"has more than {most} bytes, the limit of such a file; divide it")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise _error(
            shown,
            f"is not UTF-8 at byte {error.start} ({data[error.start]:#04x}); store it as UTF-8",
            line,
        ) from error


def _error(shown: str, message: str, line: int = 1) -> DataError:
    return DataError(Place(shown, line), Path(shown).name, message)
