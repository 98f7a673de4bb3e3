"""Child processes that run code on a vendor, as a library selects its driver once per process."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

KIT = Path(__file__).parents[1]
FAKES = KIT / "tests" / "fakes"
"""Sources of fake drivers and libraries."""
COMPILER = ("g++", "-std=c++17", "-O1", "-shared", "-fPIC", "-pthread")
PRELUDE = """
import numpy as np
from diopi_proto import OperatorError, OutOfMemoryError, VendorError, load_vendor
from {package}.plugin import dl_vendor
vendor = load_vendor(str(dl_vendor().library))
def expect_error(call, *words, kind=VendorError, details=""):
    try:
        call()
    except kind as error:
        assert all(word in str(error) for word in words), str(error)
        found = getattr(error, "details", "") or ""
        assert details in found, found
    else:
        raise AssertionError(f"no error with {{words}}")
"""


@dataclass(frozen=True)
class Processes:
    """Child processes for the tests of one vendor."""

    vendor: str
    """The vendor's name in DL_VENDORS; its package is ``dl_vendor_<name>``."""
    settings: tuple[str, ...]
    """Prefixes of the variables of the vendor and its driver, which children do not inherit."""
    driver: str = ""
    """File name of its driver."""
    flags: tuple[str, ...] = ()
    """Options of the host compiler for fake libraries."""

    @property
    def driver_variable(self) -> str:
        """The variable that names another driver."""
        return f"DL_{self.vendor.upper()}_DRIVER"

    @property
    def folder(self) -> Path:
        """The folder of the package's sources."""
        return KIT.parent / f"vendor-{self.vendor}"

    @property
    def plugin(self) -> ModuleType:
        return importlib.import_module(f"dl_vendor_{self.vendor}.plugin")

    @property
    def presence(self) -> ModuleType:
        return importlib.import_module(f"dl_vendor_{self.vendor}.presence")

    @property
    def library(self) -> Path:
        """The path of the library under test."""
        path = self.plugin.dl_vendor().library
        assert isinstance(path, Path)
        return path

    def run(self, code: str, **variables: str) -> str:
        """Run Python code with these variables and return its output.

        :raises AssertionError: the exit status is not 0; the message is the output.
        """
        inherited = {
            name: value for name, value in os.environ.items() if not name.startswith(self.settings)
        }
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(code)],
            env={**inherited, **variables},
            capture_output=True,
            text=True,
            check=False,
            timeout=100,
        )
        assert done.returncode == 0, done.stderr or done.stdout
        return done.stdout + done.stderr

    def run_on_vendor(self, code: str, **variables: str) -> str:
        """Like :meth:`run`, for code that uses ``vendor``, this vendor in dl-diopi-proto's host.

        The library is the installed one, or the one in the first folder of PYTHONPATH. The code may
        also call ``expect_error``.
        """
        prelude = PRELUDE.format(package=f"dl_vendor_{self.vendor}")
        return self.run(prelude + textwrap.dedent(code), **variables)

    def doctor(self, **variables: str) -> dict[str, Any]:
        """Return the entry of this vendor in ``dl doctor --json``."""
        code = "import sys; from dl_core.cli import main; main(['doctor', '--json'])"
        report = json.loads(
            self.run(f"try:\n    {code}\nexcept SystemExit:\n    pass", **variables)
        )
        (found,) = [vendor for vendor in report["vendors"] if vendor["name"] == self.vendor]
        assert isinstance(found, dict)
        return found

    def compile_library(self, name: str, folder: Path) -> str:
        """Build a fake library of the tests' folder ``fakes``, such as ``"nccl"``.

        It may include headers of the kit's fakes and of the vendor.
        """
        from diopi_proto import include_dir

        source, target = self.folder / "tests" / "fakes" / f"{name}.cpp", folder / f"lib{name}.so"
        own = self.folder / "csrc"
        folders = [f"-I{path}" for path in (include_dir(), KIT / "include", FAKES, own)]
        options = ["-fvisibility=hidden", *folders, *self.flags, "-o", str(target)]
        subprocess.run([*COMPILER, *options, str(source), "-ldl"], check=True)
        return str(target)

    def compile_text(self, text: str, folder: Path, *flags: str) -> str:
        """Compile C++ that may include the kit's and the vendor's headers.

        :param flags: folders of more headers, and ``-fsyntax-only`` or an output file.
        :returns: the errors, if it does not compile.
        """
        from diopi_proto import include_dir

        source = folder / "checks.cpp"
        source.write_text(text, encoding="utf-8")
        own = (KIT / "include", KIT / "tests" / "checks", self.folder / "csrc")
        folders = [f"-I{path}" for path in (include_dir(), *own)]
        command = ["g++", "-std=c++17", *folders, *flags, str(source)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.stderr if done.returncode else ""

    def run_checks(self, text: str, folder: Path) -> None:
        """Compile and run a program of the kit's ``check.h``."""
        program = folder / "checks"
        errors = self.compile_text(text, folder, "-Wall", "-Wextra", "-Werror", "-o", str(program))
        assert not errors, errors
        done = subprocess.run([program], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


def compile_driver(fake: str, target: Path, *flags: str) -> Path:
    """Build a fake driver, such as ``"hip"``, as a shared library."""
    from diopi_proto import include_dir

    folders = [f"-I{include_dir()}", f"-I{KIT / 'include'}"]
    sources = sorted(map(str, (FAKES / fake).glob("*.cpp")))
    subprocess.run([*COMPILER, *flags, *sources, *folders, "-o", str(target)], check=True)
    return target


def undefined_symbols(file: Path) -> set[str]:
    """Return the names that an object file refers to and does not define."""
    command = ["nm", "--undefined-only", str(file)]
    return set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())
