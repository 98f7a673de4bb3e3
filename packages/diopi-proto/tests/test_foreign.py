"""Validation of a library's pointers: unmapped and read-only memory."""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from cffi import FFI

Compile = Callable[..., Path]
PAGE = mmap.PAGESIZE
READ, WRITE = mmap.PROT_READ, mmap.PROT_READ | mmap.PROT_WRITE
NOTHING = 0
"""Neither readable nor writable."""
WILD = (0, 1, 8, PAGE - 1, 1 << 62, (1 << 64) - 8, (1 << 64) - 1)
"""Addresses that are never mapped."""


@pytest.fixture(scope="session")
def library(build: Compile) -> Any:
    ffi = FFI()
    ffi.cdef(
        "int fixture_readable(const void* pointer, size_t bytes);"
        "int fixture_writable(void* pointer);"
    )
    return ffi.dlopen(str(build("foreign.cpp", exports=("fixture_*",))))


@dataclass(frozen=True)
class Pages:
    """Three pages of this process: writable, read-only, and inaccessible."""

    ffi: FFI
    base: int

    def address(self, number: int) -> Any:
        return self.ffi.cast("void*", number)

    def at(self, offset: int) -> Any:
        return self.address(self.base + offset)

    def text(self, offset: int, length: int) -> bytes:
        return bytes(self.ffi.buffer(self.at(offset), length))


@pytest.fixture
def pages() -> Iterator[Pages]:
    ffi = FFI()
    ffi.cdef(
        "void* mmap(void*, size_t, int, int, int, long); int munmap(void*, size_t);"
        "int mprotect(void*, size_t, int);"
    )
    libc = ffi.dlopen(None)
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    found = libc.mmap(ffi.NULL, 3 * PAGE, WRITE, flags, -1, 0)
    made = Pages(ffi, int(ffi.cast("uintptr_t", found)))
    ffi.buffer(found, 2 * PAGE)[:] = bytes(range(256)) * (2 * PAGE // 256)
    assert libc.mprotect(made.at(PAGE), PAGE, READ) == 0
    assert libc.mprotect(made.at(2 * PAGE), PAGE, NOTHING) == 0
    yield made
    assert libc.munmap(found, 3 * PAGE) == 0


def test_memory_that_may_be_written_keeps_what_it_holds(library: Any, pages: Pages) -> None:
    before = pages.text(0, PAGE)
    for offset in (0, 1, 7, 8, 4000, PAGE - 8, PAGE - 1):
        assert library.fixture_writable(pages.at(offset)) == 1, offset
    assert pages.text(0, PAGE) == before


def test_memory_that_may_only_be_read_is_not_writable(library: Any, pages: Pages) -> None:
    before = pages.text(PAGE, PAGE)
    for offset in (PAGE, PAGE + 1, 2 * PAGE - 1):
        assert library.fixture_readable(pages.at(offset), 1) == 1, offset
        assert library.fixture_writable(pages.at(offset)) == 0, offset
    assert pages.text(PAGE, PAGE) == before


def test_what_is_no_memory_is_neither_readable_nor_writable(library: Any, pages: Pages) -> None:
    for pointer in (pages.at(2 * PAGE), pages.at(3 * PAGE - 1), *map(pages.address, WILD)):
        assert library.fixture_readable(pointer, 1) == 0, pointer
        assert library.fixture_writable(pointer) == 0, pointer


def test_what_ends_in_closed_memory_is_not_readable(library: Any, pages: Pages) -> None:
    assert library.fixture_readable(pages.at(PAGE), PAGE) == 1
    assert library.fixture_readable(pages.at(PAGE), PAGE + 1) == 0
    assert library.fixture_readable(pages.at(0), (1 << 64) - 1) == 0
