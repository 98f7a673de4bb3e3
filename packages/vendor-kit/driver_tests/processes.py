"""Child processes that run code on a vendor, as a library selects its driver once per process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

KIT = Path(__file__).parents[1]
FAKES = KIT / "tests" / "fakes"
"""Sources of fake drivers and libraries."""


@dataclass(frozen=True)
class Processes:
    """Child processes for the tests of one vendor."""

    vendor: str
    """The vendor's name in DL_VENDORS; its package is ``dl_vendor_<name>``."""
    settings: tuple[str, ...]
    """Prefixes of the variables of the vendor and its driver, which children do not inherit."""

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

        The library is the installed one, or that of the first folder in PYTHONPATH.
        """
        start = f"""
        import numpy as np
        from diopi_proto import OperatorError, OutOfMemoryError, VendorError, load_vendor
        from dl_vendor_{self.vendor}.plugin import dl_vendor
        vendor = load_vendor(str(dl_vendor().library))
        """
        return self.run(textwrap.dedent(start) + textwrap.dedent(code), **variables)

    def doctor(self, **variables: str) -> dict[str, Any]:
        """Return the entry of this vendor in ``dl doctor --json``."""
        code = "import sys; from dl_core.cli import main; main(['doctor', '--json'])"
        report = json.loads(
            self.run(f"try:\n    {code}\nexcept SystemExit:\n    pass", **variables)
        )
        (found,) = [vendor for vendor in report["vendors"] if vendor["name"] == self.vendor]
        assert isinstance(found, dict)
        return found


def compile_driver(fake: str, target: Path, *flags: str) -> Path:
    """Build a fake driver, ``"cuda"`` or ``"hip"``, as a shared library."""
    from diopi_proto import include_dir

    command = ["g++", "-std=c++17", "-O1", "-shared", "-fPIC", "-pthread", *flags]
    folders = [f"-I{include_dir()}", f"-I{KIT / 'include'}"]
    sources = sorted(map(str, (FAKES / fake).glob("*.cpp")))
    subprocess.run([*command, *sources, *folders, "-o", str(target)], check=True)
    return target


def compile_library(source: Path, csrc: Path, folder: Path, *flags: str) -> Path:
    """Build a fake library that includes headers of the kit's fakes and of the vendor."""
    from diopi_proto import include_dir

    target = folder / f"lib{source.stem}.so"
    folders = [f"-I{path}" for path in (include_dir(), KIT / "include", FAKES, csrc)]
    command = ["g++", "-std=c++17", "-O1", "-shared", "-fPIC", "-fvisibility=hidden", "-pthread"]
    subprocess.run([*command, *folders, *flags, str(source), "-o", str(target), "-ldl"], check=True)
    return target
