"""Stand-ins for libraries that a wheel links but that a machine without a GPU never calls.

torch's wheel for aarch64 is built for CUDA, and its libraries do not load without those of CUDA.
Each function of a stand-in returns 100, which is ``cudaErrorNoDevice``, so that torch finds no GPU.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from .root import PREFIX, run

NO_DEVICE = 100
_NEEDED = re.compile(r"\(NEEDED\)\s+Shared library: \[(.+)\]")
_FILE_OR_VERSION = re.compile(r"\bFile: (\S+)  Cnt:|\bName: (\S+)  Flags:")
_SYMBOL = re.compile(r"^\s*\d+: \S+\s+\S+ \S+\s+(\S+)\s+\S+\s+(\S+)(?: (\S+))?", re.MULTILINE)


@dataclass
class Linked:
    """Requirements and definitions of a library.

    :ivar versioned: undefined symbols by version.
    :ivar versions: versions by the library that should define them.
    """

    needed: set[str] = field(default_factory=set)
    defined: set[str] = field(default_factory=set)
    undefined: set[str] = field(default_factory=set)
    versioned: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    versions: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))


def parse(text: str) -> Linked:
    """Parse the output of ``readelf --wide --dynamic --dyn-syms --version-info``."""
    found = Linked(needed=set(_NEEDED.findall(text)))
    library = ""
    for file, version in _FILE_OR_VERSION.findall(text):
        library = file or library
        if version:
            found.versions[library].add(version)
    for binding, section, word in _SYMBOL.findall(text):
        name, _, version = word.partition("@")
        if not name:
            continue
        if section != "UND":
            found.defined.add(name)
        elif binding == "GLOBAL":
            if version:
                found.versioned[version].add(name)
            else:
                found.undefined.add(name)
    return found


def symbols(libraries: Iterable[Linked], present: Iterable[str]) -> dict[str, dict[str, set[str]]]:
    """Return the symbols of each stand-in by version; the version "" stands for none.

    Any library that is searched may define a symbol without a version, so each stand-in that an
    importing library needs defines them.

    :param present: names of the libraries that exist.
    """
    libraries = list(libraries)
    there = set(present)
    defined = set().union(*(each.defined for each in libraries))
    found: dict[str, dict[str, set[str]]] = {}
    for each in libraries:
        for name in each.needed - there:
            parts = found.setdefault(name, defaultdict(set))
            parts[""] |= each.undefined - defined
            for version in each.versions[name]:
                parts[version] |= each.versioned[version]
    return found


def source(parts: Mapping[str, Iterable[str]]) -> str:
    """Return the C code of a stand-in."""
    names = sorted({name for each in parts.values() for name in each})
    return "".join(f"int {name}(void) {{ return {NO_DEVICE}; }}\n" for name in names)


def version_script(parts: Mapping[str, Iterable[str]]) -> str:
    """Return the linker's version script; "" if no symbol has a version."""
    return "".join(
        f"{version} {{ global: {' '.join(f'{x};' for x in sorted(names))} }};\n"
        for version, names in sorted(parts.items())
        if version and names
    )


def write(folder: Path, system: Path, programs: Iterable[Path]) -> dict[str, int]:
    """Compile stand-ins for the missing libraries of a folder into it.

    :param system: folder of further libraries, which the loader searches.
    :param programs: programs that load the libraries, and define symbols for them.
    :returns: the numbers of functions in the stand-ins, by name.
    :raises SessionError: a stand-in does not compile.
    """
    libraries = {path.name: _read(path) for path in folder.iterdir() if ".so" in path.name}
    needed = set().union(*(each.needed for each in libraries.values())) - libraries.keys()
    # A library may name a symbol of libstdc++ without a version.
    present = {path.name: _read(path) for path in system.iterdir() if path.name in needed}
    linked = [*libraries.values(), *present.values(), *map(_read, programs)]
    found = symbols(linked, [*libraries, *(path.name for path in system.iterdir())])
    for name, parts in found.items():
        code, script = folder / f"{name}.c", folder / f"{name}.map"
        code.write_text(source(parts), encoding="utf-8")
        script.write_text(version_script(parts), encoding="utf-8")
        versions = [f"-Wl,--version-script={script}"] if script.stat().st_size else []
        shared = ("-shared", "-fPIC", "-w", "-fno-builtin", f"-Wl,-soname,{name}")
        run(f"{PREFIX}gcc", *shared, *versions, str(code), "-o", str(folder / name))
        code.unlink()
        script.unlink()
    return {name: len(set().union(*parts.values())) for name, parts in sorted(found.items())}


def _read(path: Path) -> Linked:
    options = ("--wide", "--dynamic", "--dyn-syms", "--version-info")
    return parse(run(f"{PREFIX}readelf", *options, str(path)))
