"""``compile_commands.json``: how every C++ file is compiled, from what the builds have recorded.

The builds compile generated units that include several files. An editor asks for a file by its own
name, so each included file gets an entry with the command of its unit.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from tools.projects import ROOT, Project

from .editable import OBJECTS

FILE = ROOT / "compile_commands.json"
KERNELS = ROOT / "packages" / "kernels"
HEADERS = KERNELS / "include" / "dl_kernels"
EMULATION = KERNELS / "tests" / "emulation"
# Without a GPU compiler, GPU code is parsed as C++ for the emulated GPU of the kernels' tests.
EMULATED_GPU = ('-DDL_KERNELS_MACHINE="gpu_emulation.h"', f"-I{EMULATION}")
# Only NVIDIA's or AMD's compiler accepts these.
FOREIGN = re.compile(r"machine/(cuda|hip|runtime_api)|_tensor\.h$|attention_(float_)?rows\.h$")
# GPU compilers compile other suffixes; editors do not know their options.
SUFFIXES = {".c", ".cpp"}
# Options with a value that concern the output, or GCC's own format of precompiled headers.
DROPPED = {"-MF", "-o", "-include"}
INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)

Command = Sequence[str]


def write(projects: Iterable[Project]) -> int:
    """Write the file for the projects that are built; return the number of its entries."""
    entries: dict[Path, list[str]] = {}
    for project in projects:
        for command in recorded_commands(project.folder / OBJECTS):
            for source in sources_of(command):
                entries.setdefault(source, [*flags_of(command), *language_of(source), str(source)])
    entries |= kernel_headers(entries)
    document = [
        {"directory": str(ROOT), "file": str(file), "arguments": arguments}
        for file, arguments in sorted(entries.items())
    ]
    FILE.write_text(json.dumps(document, indent=0), encoding="utf-8")
    return len(document)


def recorded_commands(objects: Path) -> Iterator[Command]:
    """Yield the command of every compiled unit: from ninja's file, or from one file per object."""
    for ninja in objects.glob("**/build.ninja"):
        listed = subprocess.run(
            ["ninja", "-f", ninja.name, "-t", "compdb", "compile"],
            cwd=ninja.parent,
            capture_output=True,
            text=True,
            check=True,
        )
        yield from (shlex.split(entry["command"]) for entry in json.loads(listed.stdout))
    # Libraries that are no longer built may have left some, so the latest come first.
    newest = sorted(objects.glob("*/*.cmd"), key=lambda path: -path.stat().st_mtime)
    yield from (shlex.split(path.read_text(encoding="utf-8")) for path in newest)


def sources_of(command: Command) -> list[Path]:
    """Return the C and C++ files of the repository that a command compiles.

    For a generated unit, these are the files that it includes.
    """
    source = source_of(command)
    if source.suffix not in SUFFIXES:
        return []
    if "build" not in source.parts:
        return [source]
    if not source.exists():
        return []
    included = INCLUDE.findall(source.read_text(encoding="utf-8"))
    folders = [Path(word[2:]) for word in command if word.startswith("-I")]
    places = (next((f / name for f in folders if (f / name).exists()), None) for name in included)
    return [place for place in places if place is not None and place.is_relative_to(ROOT)]


def source_of(command: Command) -> Path:
    """Return the file that a command compiles."""
    # torch's build writes -c twice.
    return Path(next(word for option, word in pairwise(command) if option == "-c" != word))


def flags_of(command: Command) -> list[str]:
    """Return the compiler and its options that concern the language, without files."""
    source = str(source_of(command))
    words = iter(command)
    kept = []
    for word in words:
        if word in DROPPED:
            next(words)
        elif word not in ("-MMD", "-c", source):
            kept.append(word)
    # Of "ccache g++", an editor needs "g++".
    return kept[1:] if Path(kept[0]).name == "ccache" else kept


def language_of(source: Path) -> tuple[str, ...]:
    """Return the option for a file whose suffix is unknown to compilers."""
    return {".inc": ("-x", "c++"), ".h": ("-x", "c++-header")}.get(source.suffix, ())


def kernel_headers(entries: dict[Path, list[str]]) -> dict[Path, list[str]]:
    """Return entries for the kernels' headers, which an editor would otherwise guess wrongly."""
    family = next((entries[x] for x in sorted(entries) if x.parent == HEADERS / "ops"), None)
    if family is None:
        return {}
    flags = family[: family.index("-x")]
    found = {}
    for path in sorted([*HEADERS.rglob("*.h"), *HEADERS.glob("gpu/parts/*.inc")]):
        name = path.relative_to(HEADERS)
        if not FOREIGN.search(name.as_posix()):
            machine = EMULATED_GPU if name.parts[0] == "gpu" else ()
            found[path] = [*flags, *machine, *language_of(path), str(path)]
    return found
