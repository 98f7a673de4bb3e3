"""Vendor libraries of a few families, compiled once, in which one family at a time is replaced."""

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
# The sources that are judged are those of this checkout, whatever wheels are installed.
sys.path[:0] = [str(PACKAGES / "kernels" / "src"), str(KERNEL_TESTS)]

from dl_kernels import with_used, write_units  # noqa: E402
from dl_kernels.nvcc import architectures, find_nvcc, nvcc  # noqa: E402

CONTRACT = PACKAGES / "diopi-proto" / "include"


class BuildError(RuntimeError):
    """A compiler refuses what it was given; the message is its own."""


class Build(ABC):
    """The library of one half: its objects, of which that of a family can be another one."""

    name: str
    suffix: str

    def __init__(self, folder: Path, families: Iterable[str]) -> None:
        self.folder = folder / self.name
        self.families = with_used(families)

    @abstractmethod
    def command(self, source: Path) -> list[str]:
        """Return the compiler command without folders of headers, source and object."""

    @abstractmethod
    def sources(self) -> Sequence[Path]:
        """Return the sources other than the units of the families."""

    def link_command(self) -> list[str]:
        return [*host_compiler(), "-shared", "-Wl,-z,defs"]

    def includes(self) -> list[Path]:
        return [HEADERS, CONTRACT]

    def compile(self, source: Path, to: Path, before: Path | None = None) -> None:
        """Compile a source; headers of ``before`` take the place of those of the same name."""
        folders = [*([before] if before else []), *self.includes()]
        command = [*self.command(source), *(f"-I{folder}" for folder in folders)]
        to.parent.mkdir(parents=True, exist_ok=True)
        run([*command, "-c", str(source), "-o", str(to)], f"{source.name} does not compile")

    def units(self, folder: Path) -> list[Path]:
        """The kernels, in the form for GPUs whatever compiles them: families, and their parts."""
        return write_units(folder, suffix=self.suffix, only=self.families, gpu=True)

    def plain(self) -> Path:
        """The library of the kernels as they are, built unless it exists for these sources."""
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
        """The library in which a family is compiled with the headers of a folder before others.

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
        # The linker takes the first of several definitions: those of the fault,
        # then those of the families.
        objects = sorted(
            (self.base / "objects").glob("*.o"), key=lambda x: ("units" not in x.stem, x)
        )
        linked = [str(x) for x in (*instead.values(), *(y for y in objects if y not in instead))]
        fresh = library.with_suffix(f".{os.getpid()}")
        run([*self.link_command(), *linked, "-o", str(fresh)], f"{library.name} does not link")
        fresh.replace(library)

    def digest(self) -> str:
        """Return a hash of all that the library is made from."""
        state = hashlib.sha256(repr((self.families, self.command(Path("x.cu")))).encode())
        for folder in (*self.includes(), *{source.parent for source in self.sources()}):
            for path in sorted(folder.rglob("*")):
                if path.is_file():
                    state.update(str(path).encode() + path.read_bytes())
        return state.hexdigest()[:12]


class Simulated(Build):
    """dl-vendor-cuda's sources, the kernels as PTX with lines of their sources."""

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
    """The emulated GPU of the kernels' own tests, which watches every access of a kernel."""

    name = "emulation"
    suffix = ".cpp"
    emulation = KERNEL_TESTS / "emulation"

    def __init__(self, folder: Path, families: Iterable[str]) -> None:
        super().__init__(folder, families)
        # A module of those tests, whose flags these are.
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
