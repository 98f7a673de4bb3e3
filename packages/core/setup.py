"""Builds the one part of dl-core that is tied to a torch release."""

from __future__ import annotations

from pathlib import Path

import torch
from setuptools import setup
from setuptools.command.build_py import build_py
from torch.utils.cpp_extension import BuildExtension, CppExtension

import diopi_proto

HERE = Path(__file__).parent


class BuildWithRecord(build_py):
    """Records the torch release in the wheel: autoload refuses another one with a clear message."""

    def run(self) -> None:
        super().run()
        record = Path(self.build_lib) / "dl_core" / "_build_info.py"
        record.parent.mkdir(parents=True, exist_ok=True)
        record.write_text(
            f'"""Written by setup.py at build time."""\n\nTORCH_VERSION = "{torch.__version__}"\n',
            encoding="utf-8",
        )


setup(
    ext_modules=[
        CppExtension(
            "dl_core._C",
            sorted(str(path.relative_to(HERE)) for path in (HERE / "csrc").rglob("*.cpp")),
            include_dirs=[str(HERE / "csrc"), str(diopi_proto.include_dir())],
            extra_compile_args=[
                "-O2",
                "-g0",
                "-fvisibility=hidden",
                "-Wall",
                "-Wno-unused-local-typedefs",
            ],
            extra_link_args=["-Wl,--as-needed"],
        )
    ],
    cmdclass={"build_ext": BuildExtension, "build_py": BuildWithRecord},
)
