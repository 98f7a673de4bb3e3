"""Reader for JSON documents of tuners, also packed with gzip or left open by a stopped run.

Kernel Tuner appends one line for each configuration to its cache and closes the braces at the end
of the run, so that a cache of a run that was stopped lacks them and may end within a line.
"""

from __future__ import annotations

import gzip
import io
import json
import re
import zlib
from pathlib import Path
from typing import Any

from diopi_proto.foreign_file import DOCUMENT_BYTES, read_regular

from ..errors import SpaceError


def read_result_file(path: Path) -> dict[str, Any]:
    """Read a JSON object; unpack ``.gz``, and read an open cache up to its last whole entry.

    :raises SpaceError: the file cannot be read, or is not a JSON object; the message names the
    file.
    """
    try:
        content = read_regular(path, DOCUMENT_BYTES)
        if path.suffix == ".gz":
            content = _unpacked(content)
        text = content.decode()
    except (OSError, EOFError, zlib.error, ValueError) as error:
        raise SpaceError(f"[space] {path} cannot be read: {error}") from error
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        document = _read_open_cache(text)
        if document is None:
            raise SpaceError(f"[space] {path} cannot be read: {error}") from error
    if not isinstance(document, dict):
        raise SpaceError(f"[space] {path} is not a JSON object")
    return document


def _unpacked(content: bytes) -> bytes:
    """Unpack up to a limit: a small file may unpack to any number of bytes."""
    with gzip.open(io.BytesIO(content)) as packed:
        found = packed.read(DOCUMENT_BYTES + 1)
    if len(found) > DOCUMENT_BYTES:
        raise ValueError(f"it holds more than {DOCUMENT_BYTES:,} bytes")
    return found


def _read_open_cache(text: str) -> dict[str, Any] | None:
    """Return a cache whose text ends before its braces are closed; None if it is not an open
    cache."""
    opening = re.search(r'"cache"\s*:\s*\{', text)
    if opening is None:
        return None
    try:
        document = json.loads(text[: opening.end()] + "}}")
        entries = _whole_entries(text[opening.end() :])
    except (ValueError, RecursionError):
        return None
    return None if entries is None else {**document, "cache": entries}


def _whole_entries(body: str) -> dict[str, Any] | None:
    """Return the entries up to where the text ends; None if it is damaged before its last line."""
    decoder = json.JSONDecoder()
    entries: dict[str, Any] = {}
    position = _after(_BLANK, body, 0)
    while position < len(body):
        try:
            key, end = decoder.raw_decode(body, position)
            value, end = decoder.raw_decode(body, _after(_COLON, body, end))
        except ValueError:
            return None if "\n" in body[position:].rstrip() else entries
        entries[str(key)] = value
        end = _after(_BLANK, body, end)
        if body[end:].rstrip() == "}":  # of the two braces at the end, only one was written
            break
        if end < len(body) and body[end] != ",":
            return None
        position = _after(_COMMA, body, end)
    return entries


_BLANK, _COLON, _COMMA = (re.compile(rf"\s*{separator}\s*") for separator in ("", ":", ",?"))


def _after(pattern: re.Pattern[str], text: str, position: int) -> int:
    """Return the end of a separator; without one, the position itself."""
    found = pattern.match(text, position)
    return found.end() if found else position
