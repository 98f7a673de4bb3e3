"""Builds of a vendor's library with one mutated operator."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

from diopi_proto import include_dir as contract_dir
from dl_vendor_kit import include_dir
from dl_vendor_kit.library.model import Library

from .mutations import Mutation, code_of, facts_of


class CompilerError(Exception):
    """The compiler or the linker refuses a source."""


class Builds:
    """Builds of a vendor's sources, which are compiled once.

    For each mutation only the mutated operator is compiled, which precedes the original one in the
    linker's command.

    :param csrc: folder of the vendor's sources.
    :param defines: macros for them.
    :param folder: existing folder for objects and libraries; the objects there are used again if
        their stamp is the same.
    :param stamp: hash of everything that the objects depend on.
    """

    def __init__(
        self, library: Library, csrc: Path, defines: Sequence[str], folder: Path, stamp: str
    ) -> None:
        self.folder = folder.resolve()
        self._library = library
        self._csrc = csrc.resolve()
        self._defines = [f"-D{x}" for x in defines]
        kept = self.folder / "stamp"
        if not kept.is_file() or kept.read_text(encoding="utf-8") != stamp:
            for path in self.folder.iterdir():
                if path.is_file():
                    path.unlink()
            self._compile_originals()
            kept.write_text(stamp, encoding="utf-8")
        self._originals = sorted(self.folder.glob("*.o"))

    def original(self) -> Path:
        """Return the library with the original operators."""
        target = self.folder / "liboriginal.so"
        return target if target.is_file() else self._link((), target)

    def mutated(self, mutation: Mutation, folder: Path) -> Path:
        """Return the library with a mutated operator.

        :raises CompilerError: the mutated source does not compile.
        """
        objects = []
        sources = {"operator": code_of(self._library, mutation), "facts": facts_of(mutation)}
        for name, text in sources.items():
            if text:
                source = folder / f"{name}.cpp"
                source.write_text(f'#include "prefix.h"\n{text}', encoding="utf-8")
                objects.append(self._compile(source, folder / f"{name}.o", f"-I{self.folder}"))
        return self._link(objects, folder / "libmutated.so")

    def _compile_originals(self) -> None:
        generated = self._csrc / "generated"
        families = sorted(generated.glob("*.cpp"))
        joined = self.folder / "joined.cpp"
        joined.write_text("".join(f'#include "{x}"\n' for x in families), encoding="utf-8")
        others = [x for x in sorted(self._csrc.rglob("*.cpp")) if x not in families]
        # Precompiled headers, with which a mutation compiles in less than a second.
        headers = ["dl/kit/library/plan.h", "dl/kit/library/helpers.h", "dl/kit/library/random.h"]
        headers += [str(generated / f"{x}.gen.h") for x in ("functions", "operators")]
        headers += self._library.headers
        prefix = self.folder / "prefix.h"
        prefix.write_text("".join(f'#include "{x}"\n' for x in headers), encoding="utf-8")
        self._compile(prefix, self.folder / "prefix.h.gch", "-x", "c++-header")
        for number, source in enumerate((joined, *others)):
            self._compile(source, self.folder / f"{number}.o")

    def _flags(self) -> list[str]:
        folders = (self._csrc, self._csrc / "generated", include_dir(), contract_dir())
        includes = [f"-I{folder}" for folder in folders]
        return ["-std=c++17", "-O0", "-fPIC", "-fvisibility=hidden", *self._defines, *includes]

    def _compile(self, source: Path, target: Path, *more: str) -> Path:
        _run([*_compiler(), *self._flags(), *more, "-c", str(source), "-o", str(target)])
        return target

    def _link(self, changed: Iterable[Path], target: Path) -> Path:
        objects = map(str, (*changed, *self._originals))
        # The first definition of an operator is used.
        command = [*_compiler(), "-shared", "-pthread", "-Wl,-z,muldefs", *objects]
        _run([*command, "-o", str(target), "-ldl"])
        return target


def _compiler() -> list[str]:
    return shlex.split(os.environ.get("CXX", "g++"))


def _run(command: Sequence[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if "error" in line] or [command[-1]]
        raise CompilerError(lines[0])
