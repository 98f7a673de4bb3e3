"""Build of dl-core's compiled part, the only part that depends on the torch release."""

from __future__ import annotations

import hashlib
import subprocess
import zlib
from pathlib import Path

import torch
from setuptools import Extension, setup
from setuptools.command.build_py import build_py
from setuptools.command.egg_info import egg_info
from torch.utils.cpp_extension import BuildExtension, CppExtension, get_cxx_compiler

import diopi_proto
import dl_graph

HERE = Path(__file__).parent
TORCH_RELEASE = torch.__version__.partition("+")[0]


class InfoOfRelease(egg_info):
    """Adds the torch release to the wheel's local version and to its extra ``torch``.

    Wheels of one dl-core version for several torch releases coexist on an index. ``dl-core>=0.1``
    and ``dl-core==0.1.0`` match each of them, because a local version is ignored unless it is
    requested.
    """

    def finalize_options(self) -> None:
        self.tag_build = f"+torch{TORCH_RELEASE}"
        extras = self.distribution.metadata.extras_require
        extras["torch"] = [f"torch=={TORCH_RELEASE}"]
        super().finalize_options()


class BuildWithRecord(build_py):
    """Store the torch release in the wheel, so that autoload can reject a different torch release
    with a clear message."""

    def run(self) -> None:
        super().run()
        # With an editable install, Python imports the package from the source tree.
        folder = (
            self.get_package_dir("dl_core") if self.editable_mode else f"{self.build_lib}/dl_core"
        )
        record = Path(folder) / "_build_info.py"
        record.parent.mkdir(parents=True, exist_ok=True)
        record.write_text(
            f'"""Written by setup.py at build time."""\n\nTORCH_VERSION = "{torch.__version__}"\n',
            encoding="utf-8",
        )


# Files are compiled in units (a unity build), because parsing torch's headers takes longer than
# compiling most files. Each line: a name, folders of csrc/, and the number of units for their
# files. The file name determines the unit, so that a new file does not move other files. Names in
# the anonymous namespaces of one line's files must differ. Files outside are compiled separately.
UNITS = (
    ("backend", ("runtime", "backend", "calls", "graphs"), 1),
    ("memory", ("memory",), 1),
    ("fallback", ("aten/fallback", "aten/kernel", "aten/layout"), 1),
    ("tensors", ("aten/tensors", "aten/fused"), 1),
    ("sparse", ("aten/sparse",), 1),
    ("plans", ("aten/plans",), 1),
    ("wrappers", ("aten/wrappers",), 4),
    ("elementwise", ("aten/composed", "aten/composed/elementwise"), 2),
    ("indexing", ("aten/composed/indexing", "aten/composed/reduction"), 2),
    ("layers", tuple(f"aten/composed/{x}" for x in ("normalization", "products", "sequence")), 1),
    ("distributed", ("distributed",), 1),
    ("profiler", ("profiler",), 1),
    ("bindings", ("bindings",), 1),
    ("linalg", tuple(f"aten/composed/{x}" for x in ("linalg", "losses", "spectral")), 1),
    ("samplers", tuple(f"aten/composed/{x}" for x in ("creation", "random", "vision")), 1),
)


class BuildInUnits(BuildExtension):
    """Compiles several files at a time, with precompiled torch headers."""

    # Settings of build_ext in configuration files would otherwise be lost in editable installs.
    command_name = "build_ext"
    HEADERS = ("ATen/core/Tensor.h", "ATen/core/dispatch/Dispatcher.h", "torch/library.h")

    def build_extension(self, ext: Extension) -> None:
        header = Path(self.build_temp).resolve() / "precompiled.h"
        ext.extra_compile_args = [*ext.extra_compile_args, "-std=c++20"]
        self.precompile(header, ext)
        ext.sources = self.units(header.parent)
        ext.extra_compile_args += ["-include", str(header)]
        super().build_extension(ext)

    def units(self, folder: Path) -> list[str]:
        """Write a file for each unit, which includes its members; return all files to compile."""
        sources = HERE / "csrc"
        units = {layer: (name, count) for name, layers, count in UNITS for layer in layers}
        members: dict[str, list[str]] = {}
        alone: list[str] = []
        for path in sorted(path.relative_to(sources) for path in sources.rglob("*.cpp")):
            layer = path.parent.as_posix()
            if layer in units:
                name, count = units[layer]
                number = zlib.crc32(path.stem.encode()) % count
                includes = members.setdefault(f"unit_{name}_{number}.cpp", [])
                includes.append(f'#include "{path.as_posix()}"\n')
            else:
                alone.append(str(Path("csrc") / path))
        for name, includes in members.items():
            unit, text = folder / name, "".join(includes)
            if not unit.exists() or unit.read_text(encoding="utf-8") != text:
                unit.write_text(text, encoding="utf-8")
        return [*(str(folder / name) for name in members), *alone]

    def precompile(self, header: Path, ext: Extension) -> None:
        """Precompile ``header`` with the flags of the sources, which makes compiling
        them faster."""
        flags = [*self.compiler.compiler_so[1:], *ext.extra_compile_args]
        folders = [*self.compiler.include_dirs, *ext.include_dirs]
        output = header.with_suffix(".h.gch")
        command = [
            *(get_cxx_compiler(), *flags, *(f"-I{folder}" for folder in folders)),
            *("-x", "c++-header", str(header), "-o", str(output)),
        ]
        # Objects depend on this file, so it is rewritten only if its contents change.
        state = hashlib.sha256(repr((command, torch.__version__)).encode()).hexdigest()
        stamp = header.with_suffix(".stamp")
        if output.exists() and stamp.exists() and stamp.read_text(encoding="utf-8") == state:
            return
        header.parent.mkdir(parents=True, exist_ok=True)
        header.write_text(
            "".join(f"#include <{name}>\n" for name in self.HEADERS), encoding="utf-8"
        )
        output.unlink(missing_ok=True)
        subprocess.run(command, check=False)
        stamp.write_text(state, encoding="utf-8")


setup(
    ext_modules=[
        CppExtension(
            "dl_core._C",
            sorted(str(path.relative_to(HERE)) for path in (HERE / "csrc").rglob("*.cpp")),
            include_dirs=[
                str(HERE / "csrc"),
                str(diopi_proto.include_dir()),
                str(dl_graph.include_dir()),
                # torch's headers include profiler headers without naming their folder.
                str(Path(torch.__file__).parent / "include" / "kineto"),
            ],
            extra_compile_args=[
                "-O2",
                "-g0",
                # torch's thread pool uses OpenMP; without it at::parallel_for is a serial loop.
                "-fopenmp",
                "-fvisibility=hidden",
                "-Wall",
                "-Wno-unused-local-typedefs",
            ],
            extra_link_args=["-fopenmp", "-Wl,--as-needed"],
        )
    ],
    cmdclass={
        "build_ext": BuildInUnits,
        "build_py": BuildWithRecord,
        "egg_info": InfoOfRelease,
    },
)
