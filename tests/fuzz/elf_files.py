"""Damaged shared libraries: read, never loaded."""

from __future__ import annotations

import contextlib
import random
import struct
import subprocess
from pathlib import Path

from diopi_proto import DiopiError
from diopi_proto.elf import ElfError, read_elf
from diopi_proto.inspection import inspect_library

from .kind import Case, Kind

SOURCE = """
#include <fcntl.h>
#include <stdlib.h>
__attribute__((constructor)) static void run(void) {
  const char* canary = getenv("FUZZ_CANARY");
  if (canary != NULL) open(canary, O_CREAT | O_WRONLY, 0644);
}
int dl_vendor_v1(void) { return 0; }
int diopiAdd(void) { return abs(-1); }
"""
_NUMBERS = (0, 1, 2, 7, 24, 64, 255, 4096, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 40)
_NUMBERS += ((1 << 62), (1 << 63) - 1, 1 << 63, (1 << 64) - 1)

_FIELDS = (
    *((4, "B"), (5, "B"), (16, "H"), (18, "H"), (24, "Q"), (32, "Q"), (40, "Q"), (52, "H")),
    *((54, "H"), (56, "H"), (58, "H"), (60, "H"), (62, "H")),
)
"""Fields of the header: offset and length."""


def prepare(folder: Path) -> None:
    source = folder / "library.c"
    source.write_text(SOURCE)
    for style in ("gnu", "sysv"):
        target = folder / f"lib{style}.so"
        flags = ("-shared", "-fPIC", f"-Wl,--hash-style={style}", "-Wl,-rpath,$ORIGIN/lib")
        subprocess.run(["cc", *flags, str(source), "-o", str(target)], check=True)


def begin(folder: Path, own: Path) -> Case:
    originals = [path.read_bytes() for path in sorted(folder.glob("*.so"))]
    originals.append(_without_sections(originals[0]))
    target = own / "lib.so"

    def case(choose: random.Random) -> str:
        target.write_bytes(_damaged(choose, choose.choice(originals)))
        with contextlib.suppress(ElfError):
            read_elf(target)
        try:
            inspect_library(target, legacy=choose.random() < 0.3)
        except DiopiError:
            return "refused"
        return "accepted"

    return case


def _without_sections(content: bytes) -> bytes:
    changed = bytearray(content)
    changed[40:48] = bytes(8)
    changed[60:62] = bytes(2)
    return bytes(changed)


def _damaged(choose: random.Random, original: bytes) -> bytes:
    content = bytearray(original)
    for _ in range(choose.randrange(1, 5)):
        choose.choice((_header, _table, _table, _dynamic, _bytes, _cut))(choose, content)
        if len(content) < 64:
            break
    return bytes(content)


def _header(choose: random.Random, content: bytearray) -> None:
    offset, form = choose.choice(_FIELDS)
    _write_number(choose, content, offset, form)


def _table(choose: random.Random, content: bytearray) -> None:
    """Mutate a word of a program header or a section header."""
    start = choose.choice((64, max(len(content) - 64 * choose.randrange(1, 30), 0)))
    _write_number(choose, content, start + 8 * choose.randrange(60), choose.choice("QI"))


def _dynamic(choose: random.Random, content: bytearray) -> None:
    """Mutate a word after the possible position of a tag in the dynamic section."""
    tag = struct.pack("<Q", choose.choice((1, 4, 5, 6, 10, 11, 14, 15, 29, 0x6FFFFEF5)))
    places = [i for i in range(0, len(content) - 16, 8) if content[i : i + 8] == tag]
    if places:
        _write_number(choose, content, choose.choice(places) + choose.choice((0, 8)), "Q")


def _write_number(choose: random.Random, content: bytearray, offset: int, form: str) -> None:
    size = struct.calcsize(form)
    if offset + size > len(content):
        return
    value = choose.choice(_NUMBERS) + choose.choice((0, 0, -1, 1, 8))
    if choose.random() < 0.3:
        value = choose.randrange(len(content))
    struct.pack_into(f"<{form}", content, offset, value % (1 << 8 * size))


def _bytes(choose: random.Random, content: bytearray) -> None:
    for _ in range(choose.randrange(1, 40)):
        content[choose.randrange(len(content))] = choose.randrange(256)


def _cut(choose: random.Random, content: bytearray) -> None:
    if choose.random() < 0.3:
        del content[choose.randrange(len(content)) :]
    else:
        start = choose.randrange(len(content))
        del content[start : start + choose.choice((1, 8, 64, 4096))]


KIND = Kind("elf_files", 5000, begin, prepare, batch=500)
