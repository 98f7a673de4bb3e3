"""A small reader of ELF shared libraries: machine, dependencies and symbols of an unloaded file.

Like the dynamic loader, it reads only program headers and the dynamic section, so libraries
without section headers are supported. The format is described in the System V ABI, chapters 4
and 5, and in the gABI's page on GNU hash tables.
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache
from mmap import ACCESS_READ, mmap
from pathlib import Path

from .foreign_file import open_regular

_MACHINES = {
    3: "x86",
    8: "mips",
    20: "powerpc",
    21: "powerpc64",
    22: "s390x",
    40: "arm",
    62: "x86_64",
    183: "aarch64",
    243: "riscv",
    258: "loongarch",
}

_PT_LOAD, _PT_DYNAMIC = 1, 2
_DT_NEEDED, _DT_HASH, _DT_STRTAB, _DT_SYMTAB, _DT_STRSZ = 1, 4, 5, 6, 10
_DT_SONAME, _DT_RPATH, _DT_RUNPATH, _DT_GNU_HASH = 14, 15, 29, 0x6FFFFEF5
_SHT_DYNSYM = 11
_PF_X = 1
_BINDINGS = {0: "LOCAL", 1: "GLOBAL", 2: "WEAK", 10: "UNIQUE"}
_KINDS = {0: "NOTYPE", 1: "OBJECT", 2: "FUNC", 6: "TLS", 10: "IFUNC"}
_CALLABLE = ("NOTYPE", "FUNC", "IFUNC")
_HIDDEN = (1, 2)  # STV_INTERNAL, STV_HIDDEN
_LONGEST_NAMES = 1 << 26
"""Maximum number of characters of all names together. Entries may share names, so the file size is
not a bound."""


class ElfError(ValueError):
    """The file is not an ELF file, or is damaged. The message names the file."""


@dataclass(frozen=True)
class ElfIdentity:
    """Machine for which a file was compiled."""

    bits: int
    """32 or 64."""
    little_endian: bool
    machine: int
    """``e_machine`` of the header."""

    def __str__(self) -> str:
        name = _MACHINES.get(self.machine, f"machine {self.machine}")
        return f"{name}, {self.bits} bit, {'little' if self.little_endian else 'big'} endian"


@dataclass(frozen=True)
class Symbol:
    """One entry of the dynamic symbol table."""

    name: str
    binding: str
    """``LOCAL``, ``GLOBAL``, ``WEAK``, ``UNIQUE``, or a number."""
    kind: str
    """``FUNC``, ``OBJECT``, ``TLS``, ``IFUNC``, ``NOTYPE``, or a number."""
    defined: bool
    hidden: bool
    code: bool
    """True for a function, or a symbol without a type, in an executable segment."""


@dataclass(frozen=True)
class ElfFile:
    """The dynamic part of a shared library."""

    path: Path
    identity: ElfIdentity
    needed: tuple[str, ...]
    soname: str | None
    rpath: tuple[str, ...]
    """``DT_RPATH`` and ``DT_RUNPATH`` together; an empty entry is the current folder."""
    symbols: tuple[Symbol, ...]

    @property
    def exported(self) -> frozenset[str]:
        """Return names that other libraries can bind to."""
        return frozenset(
            s.name for s in self.symbols if s.defined and not s.hidden and s.binding != "LOCAL"
        )

    @property
    def data(self) -> frozenset[str]:
        """Return exported names that cannot be called: objects, and addresses outside of
        the code.
        """
        names = self.exported
        return frozenset(
            s.name for s in self.symbols if s.defined and not s.code and s.name in names
        )

    @property
    def undefined(self) -> frozenset[str]:
        """Return names that other libraries must provide, including weak ones."""
        return frozenset(s.name for s in self.symbols if not s.defined and s.name)

    @property
    def unique(self) -> frozenset[str]:
        """Return defined ``STB_GNU_UNIQUE`` names, which the loader merges even across
        RTLD_LOCAL.
        """
        return frozenset(s.name for s in self.symbols if s.defined and s.binding == "UNIQUE")


def read_identity(path: str | Path) -> ElfIdentity:
    """Read the machine of an ELF file from its first bytes.

    :raises ElfError: it is not an ELF file.
    :raises OSError: the file cannot be read.
    """
    with open_regular(path) as file:
        return _identity(file.read(20), Path(path))


@lru_cache(maxsize=1)
def running_identity() -> ElfIdentity:
    """Return the machine of this process."""
    return read_identity("/proc/self/exe")


def read_elf(path: str | Path) -> ElfFile:
    """Read the dynamic section of a 64-bit ELF file.

    :raises ElfError: it is not a 64-bit ELF file, has no dynamic section, or is damaged.
    :raises OSError: the file cannot be read.
    """
    path = Path(path)
    identity = read_identity(path)
    if identity.bits != 64:
        raise ElfError(f"{path} is an ELF file for {identity}; only 64-bit files can be read")
    # Read only the needed parts: a file may be much larger than them.
    with open_regular(path) as file, mmap(file.fileno(), 0, access=ACCESS_READ) as content:
        try:
            return _Reader(content, identity, path).read()
        except ElfError:
            raise
        except (struct.error, IndexError, ValueError, OverflowError, MemoryError) as error:
            raise ElfError(f"{path} is a damaged ELF file: {error}") from error


def _identity(head: bytes, path: Path) -> ElfIdentity:
    if len(head) < 20 or head[:4] != b"\x7fELF" or head[4] not in (1, 2) or head[5] not in (1, 2):
        raise ElfError(f"{path} is not an ELF file: it begins with {head[:8]!r}")
    little = head[5] == 1
    (machine,) = struct.unpack_from("<H" if little else ">H", head, 18)
    return ElfIdentity(bits=32 * head[4], little_endian=little, machine=machine)


def _joined(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return ranges in ascending order, with overlapping ones merged."""
    made: list[tuple[int, int]] = []
    for start, end in sorted(ranges):
        if made and start <= made[-1][1]:
            made[-1] = (made[-1][0], max(end, made[-1][1]))
        else:
            made.append((start, end))
    return made


class _Reader:
    def __init__(self, content: mmap, identity: ElfIdentity, path: Path) -> None:
        self._content = content
        self._identity = identity
        self._path = path
        self._order = "<" if identity.little_endian else ">"
        self._room = _LONGEST_NAMES
        self._segments: list[tuple[int, int, int]] = []  # virtual address, file offset, bytes
        self._code: list[tuple[int, int]] = []  # disjoint ranges of virtual addresses, in order

    def read(self) -> ElfFile:
        dynamic = self._dynamic()
        values: dict[int, int] = {}
        for tag, value in dynamic:
            values.setdefault(tag, value)
        if _DT_STRTAB not in values or _DT_SYMTAB not in values:
            raise ElfError(f"{self._path} has no dynamic symbol table: it is not a shared library")
        strings = self._offset(values[_DT_STRTAB])
        names = self._content[strings : strings + values.get(_DT_STRSZ, 0)]
        paths = [self._text(names, v) for t, v in dynamic if t in (_DT_RPATH, _DT_RUNPATH)]
        return ElfFile(
            path=self._path,
            identity=self._identity,
            needed=tuple(self._text(names, v) for t, v in dynamic if t == _DT_NEEDED),
            soname=self._text(names, values[_DT_SONAME]) if _DT_SONAME in values else None,
            rpath=tuple(part for path in paths for part in path.split(":")),
            symbols=self._symbols(values, names),
        )

    def _unpack(self, form: str, offset: int) -> tuple[int, ...]:
        return struct.unpack_from(self._order + form, self._content, offset)

    def _dynamic(self) -> list[tuple[int, int]]:
        (headers,) = self._unpack("Q", 32)
        size, count = self._unpack("HH", 54)
        position = None
        for index in range(count):
            header = headers + index * size
            kind, flags, offset, address, _, in_file = self._unpack("IIQQQQ", header)
            if kind == _PT_LOAD:
                self._segments.append((address, offset, in_file))
                if flags & _PF_X:
                    self._code.append((address, address + in_file))
            elif kind == _PT_DYNAMIC:
                position = offset
        self._code = _joined(self._code)
        if position is None:
            raise ElfError(f"{self._path} has no dynamic section: it is not a shared library")
        entries: list[tuple[int, int]] = []
        while True:
            tag, value = self._unpack("QQ", position)
            if tag == 0:
                return entries
            entries.append((tag, value))
            position += 16

    def _offset(self, address: int) -> int:
        for start, offset, length in self._segments:
            if start <= address < start + length:
                return address - start + offset
        raise ElfError(f"{self._path}: address {address:#x} is in no segment of the file")

    def _is_code(self, address: int) -> bool:
        index = bisect_right(self._code, (address, 1 << 64)) - 1
        return index >= 0 and address < self._code[index][1]

    def _symbols(self, values: dict[int, int], names: bytes) -> tuple[Symbol, ...]:
        table = self._offset(values[_DT_SYMTAB])
        symbols = []
        for index in range(1, self._symbol_count(values)):
            name, info, other, section, value = self._unpack("IBBHQ", table + index * 24)
            kind = _KINDS.get(info & 15, str(info & 15))
            symbols.append(
                Symbol(
                    name=self._text(names, name),
                    binding=_BINDINGS.get(info >> 4, str(info >> 4)),
                    kind=kind,
                    defined=section != 0,
                    hidden=(other & 3) in _HIDDEN,
                    code=kind in _CALLABLE and self._is_code(value),
                )
            )
        return tuple(symbols)

    def _symbol_count(self, values: dict[int, int]) -> int:
        """Return the number of symbols, from a section header or else a hash table."""
        (sections,) = self._unpack("Q", 40)
        size, count = self._unpack("HH", 58)
        for index in range(count if sections else 0):
            header = sections + index * size
            if self._unpack("I", header + 4)[0] == _SHT_DYNSYM:
                length, entry = self._unpack("Q", header + 32)[0], self._unpack("Q", header + 56)[0]
                return length // (entry or 24)
        if _DT_HASH in values:
            return self._unpack("II", self._offset(values[_DT_HASH]))[1]
        if _DT_GNU_HASH in values:
            return self._count_by_gnu_hash(self._offset(values[_DT_GNU_HASH]))
        return 0

    def _count_by_gnu_hash(self, table: int) -> int:
        bucket_count, first, bloom_words, _ = self._unpack("IIII", table)
        buckets = table + 16 + 8 * bloom_words
        last = max(self._unpack(f"{bucket_count}I", buckets), default=0)
        if last < first:
            return first
        chains = buckets + 4 * bucket_count
        while not self._unpack("I", chains + 4 * (last - first))[0] & 1:
            last += 1
        return last + 1

    def _text(self, names: bytes, offset: int) -> str:
        if offset >= len(names):
            return ""
        end = names.index(0, offset)
        self._room -= end - offset
        if self._room < 0:
            raise ElfError(f"{self._path} is a damaged ELF file: its string table has no end")
        return names[offset:end].decode()
