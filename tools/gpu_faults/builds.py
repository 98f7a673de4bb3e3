"""Vendor libraries of a few families, compiled once, with one family replaced at a time."""

from __future__ import annotations

import hashlib
import importlib
import os
import shlex
import subprocess
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ROOT / "packages"
HEADERS = PACKAGES / "kernels" / "include"
KERNEL_TESTS = PACKAGES / "kernels" / "tests"
# Test the sources of this checkout, whatever wheels are installed.
sys.path[:0] = [str(PACKAGES / "kernels" / "src"), str(KERNEL_TESTS)]

from dl_kernels import with_used, write_units  # noqa: E402
from dl_kernels.nvcc import architectures, find_nvcc, nvcc  # noqa: E402

CONTRACT = PACKAGES / "diopi-proto" / "include"


class BuildError(RuntimeError):
    """Compilation failed; the message is the compiler's."""


class Build(ABC):
    """The library of one half, in which the object of a family can be replaced."""

    name: str
    suffix: str

    def __init__(self, folder: Path, families: Iterable[str]) -> None:
        self.folder = folder / self.name
        self.families = with_used(families)

    @abstractmethod
    def command(self, source: Path) -> list[str]:
        """Return the compiler command without include folders, source and object."""

    @abstractmethod
    def sources(self) -> Sequence[Path]:
        """Return the sources other than the units of the families."""

    def link_command(self) -> list[str]:
        return [*host_compiler(), "-shared", "-Wl,-z,defs"]

    def includes(self) -> list[Path]:
        return [HEADERS, CONTRACT]

    def compile(self, source: Path, to: Path, before: Path | None = None) -> None:
        """Compile a source; headers of ``before`` replace headers with the same name."""
        folders = [*([before] if before else []), *self.includes()]
        command = [*self.command(source), *(f"-I{folder}" for folder in folders)]
        to.parent.mkdir(parents=True, exist_ok=True)
        run([*command, "-c", str(source), "-o", str(to)], f"{source.name} does not compile")

    def units(self, folder: Path) -> list[Path]:
        """Return the kernels in their GPU form, for any compiler: families, and their parts."""
        return write_units(folder, suffix=self.suffix, only=self.families, gpu=True)

    def plain(self) -> Path:
        """Return the library of the unchanged kernels, built unless it exists for these sources."""
        self.base = self.folder / self.digest()
        library = self.base / "libplain.so"
        if not library.exists():
            sources = [*self.sources(), *self.units(self.base / "units")]
            with ThreadPoolExecutor(jobs()) as pool:
                for done in [pool.submit(self.compile, x, self.object_of(x)) for x in sources]:
                    done.result()
            self.link(library, {})
        return library

    def mutated(self, name: str, family: str, overlay: Path) -> Path:
        """Return the library in which a family is compiled with the headers of a folder first.

        :raises BuildError: it does not compile.
        """
        source = self.base / "units" / f"family_{family}{self.suffix}"
        to = self.base / "mutated" / f"{name}.o"
        self.compile(source, to, overlay)
        library = to.with_suffix(".so")
        self.link(library, {self.object_of(source): to})
        return library

    def object_of(self, source: Path) -> Path:
        return self.base / "objects" / f"{source.parent.name}_{source.stem}.o"

    def link(self, library: Path, instead: dict[Path, Path]) -> None:
        # The linker takes the first of several definitions: the fault's, then the families'.
        objects = sorted(
            (self.base / "objects").glob("*.o"), key=lambda x: ("units" not in x.stem, x)
        )
        linked = [str(x) for x in (*instead.values(), *(y for y in objects if y not in instead))]
        fresh = library.with_suffix(f".{os.getpid()}")
        run([*self.link_command(), *linked, "-o", str(fresh)], f"{library.name} does not link")
        fresh.replace(library)

    def digest(self) -> str:
        """Return a hash of everything that the library is built from."""
        state = hashlib.sha256(repr((self.families, self.command(Path("x.cu")))).encode())
        for folder in (*self.includes(), *{source.parent for source in self.sources()}):
            for path in sorted(folder.rglob("*")):
                if path.is_file():
                    state.update(str(path).encode() + path.read_bytes())
        return state.hexdigest()[:12]


class Simulated(Build):
    """The sources of dl-vendor-cuda, with kernels as PTX with line information."""

    name = "simulator"
    suffix = ".cu"

    def __init__(self, folder: Path, families: Iterable[str]) -> None:
        super().__init__(folder, families)
        compiler = nvcc(find_nvcc(), architectures("ptx80"), compress=False)
        self.device = [*compiler.compile_command(), "-lineinfo"]

    def command(self, source: Path) -> list[str]:
        macros = [
            '-DDL_CUDA_VERSION="0"',
            '-DDL_CUDA_CODE="compute_80"',
            "-DDL_CUDA_COMPILER=13000",
        ]
        macros.append('-DDL_KERNELS_OPERATOR_HEADER="runtime/operators.h"')
        if source.suffix == self.suffix:
            return [*self.device, *macros]
        return [*host_compiler(), "-std=c++17", "-O1", "-fPIC", "-fvisibility=hidden", *macros]

    def sources(self) -> Sequence[Path]:
        return sorted((PACKAGES / "vendor-cuda" / "csrc").rglob("*.cpp"))

    def includes(self) -> list[Path]:
        kit, own = PACKAGES / "vendor-kit" / "include", PACKAGES / "vendor-cuda" / "csrc"
        return [*super().includes(), kit, own]


class Emulated(Build):
    """The emulated GPU of the kernels' own tests, which checks every access of a kernel."""

    name = "emulation"
    suffix = ".cpp"
    emulation = KERNEL_TESTS / "emulation"

    def __init__(self, folder: Path, families: Iterable[str]) -> None:
        super().__init__(folder, families)
        # A module of those tests, which defines these flags.
        tests = importlib.import_module("emulated")
        self.flags = [*tests.FLAGS, *tests.shape_flags()]
        self.watching: list[str] = tests.CHECKED

    def command(self, source: Path) -> list[str]:
        own = ["-O1"] if source.parent == self.emulation else self.watching
        return [*host_compiler(), *self.flags, *own]

    def sources(self) -> Sequence[Path]:
        return sorted(self.emulation.glob("*.cpp"))


def host_compiler() -> list[str]:
    return shlex.split(os.environ.get("CXX", "g++"))


def jobs() -> int:
    wanted = os.environ.get("MAX_JOBS", "")
    return int(wanted) if wanted.isdigit() else os.cpu_count() or 1


def run(command: list[str], what: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BuildError(f"{what}:\n{done.stderr[-4000:]}")
