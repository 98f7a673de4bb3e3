"""The ELF reader on libraries from the compiler, and on damaged and other files."""

from __future__ import annotations

import random
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from diopi_proto.build import compile_library
from diopi_proto.elf import ElfError, read_elf, read_identity, running_identity

_SOURCE = """
extern int somewhere_else(int);
__attribute__((visibility("default"))) int visible(int x) { return somewhere_else(x); }
int hidden(int x) { return x + 1; }
"""


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    source = tmp_path / "plain.c"
    source.write_text(_SOURCE)
    return compile_library(
        tmp_path / "libplain.so",
        [source],
        exports=("visible",),
        soname="libplain.so.7",
        legacy=True,
        link_flags=["-Wl,-rpath,$ORIGIN/x:$ORIGIN", "-Wl,--no-as-needed", "-lm"],
    )


def test_needed_soname_and_rpath_are_read(plain: Path) -> None:
    elf = read_elf(plain)
    assert elf.soname == "libplain.so.7"
    assert "libm.so.6" in elf.needed
    assert elf.rpath == ("$ORIGIN/x", "$ORIGIN")


def test_symbols_tell_exported_from_undefined(plain: Path) -> None:
    elf = read_elf(plain)
    assert elf.exported == {"visible"}
    assert "somewhere_else" in elf.undefined
    assert "hidden" not in elf.exported | elf.undefined


def _without_section_headers(path: Path) -> Path:
    content = bytearray(path.read_bytes())
    content[40:48] = bytes(8)  # e_shoff
    content[60:62] = bytes(2)  # e_shnum
    stripped = path.with_name("stripped.so")
    stripped.write_bytes(content)
    return stripped


@pytest.mark.parametrize("style", ["gnu", "sysv"])
def test_libraries_without_section_headers_are_read(tmp_path: Path, style: str) -> None:
    source = tmp_path / "plain.c"
    source.write_text(_SOURCE)
    path = compile_library(
        tmp_path / "lib.so",
        [source],
        exports=("visible",),
        legacy=True,
        link_flags=[f"-Wl,--hash-style={style}"],
    )
    full = read_elf(path)
    bare = read_elf(_without_section_headers(path))
    assert bare.exported == full.exported == {"visible"}
    assert bare.undefined == full.undefined


def test_unique_symbols_are_seen(tmp_path: Path) -> None:
    source = tmp_path / "unique.cpp"
    source.write_text(
        "inline int& counter() { static int c; return c; }\nint f() { return ++counter(); }\n"
    )
    path = tmp_path / "libunique.so"
    subprocess.run(["g++", "-shared", "-fPIC", str(source), "-o", str(path)], check=True)
    assert any("counter" in name for name in read_elf(path).unique)


def test_identity_of_this_process_is_that_of_the_interpreter() -> None:
    assert read_identity(sys.executable) == running_identity()
    assert str(running_identity().bits) in str(running_identity())


def test_foreign_machine_is_named(plain: Path) -> None:
    content = bytearray(plain.read_bytes())
    struct.pack_into("<H", content, 18, 183)
    plain.write_bytes(content)
    assert "aarch64" in str(read_identity(plain))


@pytest.mark.parametrize("content", [b"", b"\x7fELF", b"#!/bin/sh\nexit 0\n" * 4])
def test_other_files_are_no_elf_files(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.so"
    path.write_bytes(content)
    with pytest.raises(ElfError, match="not an ELF file"):
        read_elf(path)


@pytest.mark.parametrize("keep", [30, 100, 700])
def test_truncated_files_are_errors_not_garbage(plain: Path, keep: int) -> None:
    plain.write_bytes(plain.read_bytes()[:keep])
    with pytest.raises(ElfError, match=r"libplain\.so"):
        read_elf(plain)


@pytest.mark.parametrize(
    ("offset", "form"),
    [(32, "<Q"), (40, "<Q"), (54, "<H"), (56, "<H"), (58, "<H"), (60, "<H")],
    ids=["e_phoff", "e_shoff", "e_phentsize", "e_phnum", "e_shentsize", "e_shnum"],
)
@pytest.mark.parametrize("value", [0, 1, -1, 1 << 62, 1 << 63], ids=hex)
def test_impossible_fields_of_the_header_are_errors(
    plain: Path, offset: int, form: str, value: int
) -> None:
    content = bytearray(plain.read_bytes())
    struct.pack_into(form, content, offset, value & ((1 << 8 * struct.calcsize(form)) - 1))
    plain.write_bytes(content)
    try:
        assert "visible" in read_elf(plain).exported or value in (0, 1)
    except ElfError as error:
        assert "libplain.so" in str(error)  # noqa: PT017 - some values make a good file


def test_damaged_bytes_are_errors_of_their_own_kind(plain: Path) -> None:
    original = plain.read_bytes()
    choose = random.Random(3)
    failed = 0
    for _ in range(400):
        content = bytearray(original)
        for _ in range(choose.randrange(1, 9)):
            # Headers and the dynamic section are at the start and the end.
            at = choose.randrange(1200) if choose.random() < 0.7 else choose.randrange(len(content))
            content[at] = choose.choice((0, 1, 0x7F, 0x80, 0xFF, choose.randrange(256)))
        plain.write_bytes(content)
        try:
            read_elf(plain)
        except ElfError:
            failed += 1
    assert 60 < failed < 400


def test_names_without_an_end_take_no_time_and_no_memory(plain: Path) -> None:
    """A million symbols may share one name of a megabyte."""
    count, length = 1 << 20, 1 << 20
    header, entry = 64 + 2 * 56, 24
    names = header + 16 * 5
    symbols = names + length + 1
    content = bytearray(symbols + count * entry)
    content[:64] = plain.read_bytes()[:64]
    struct.pack_into("<QQ", content, 32, 64, symbols - 64)
    struct.pack_into("<HHHH", content, 54, 56, 2, 64, 1)
    struct.pack_into("<IIQQQQQQ", content, 64, 1, 5, 0, 0, 0, len(content), len(content), 4096)
    struct.pack_into("<IIQQQQQQ", content, 120, 2, 4, header, header, header, 80, 80, 8)
    struct.pack_into("<10Q", content, header, 5, names, 6, symbols, 10, length + 1, 0, 0, 0, 0)
    content[names : names + length] = b"x" * length
    # The section with the number of symbols.
    struct.pack_into("<I", content, symbols - 64 + 4, 11)
    struct.pack_into("<Q", content, symbols - 64 + 32, count * entry)
    struct.pack_into("<Q", content, symbols - 64 + 56, entry)
    plain.write_bytes(content)
    with pytest.raises(ElfError, match="its string table has no end"):
        read_elf(plain)


def test_object_files_are_no_shared_libraries(tmp_path: Path) -> None:
    source, path = tmp_path / "plain.c", tmp_path / "plain.o"
    source.write_text(_SOURCE)
    subprocess.run(["gcc", "-c", str(source), "-o", str(path)], check=True)
    with pytest.raises(ElfError, match="no dynamic section"):
        read_elf(path)
