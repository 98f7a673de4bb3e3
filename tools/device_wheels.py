"""Check wheels with device code where their device is missing, in the environment they are in.

    python -m tools.device_wheels DISTRIBUTION ...

Each must be linked to libraries of every Linux system only, `import torch` must print nothing, and
`dl doctor` must say what is missing. Prints a line for each wheel, and one for each problem; exits
with status 1 if there is one.
"""

from __future__ import annotations

import importlib.metadata
import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from diopi_proto.elf import read_elf

SYSTEM_LIBRARIES = frozenset(
    (
        "ld-linux-aarch64.so.1",
        "ld-linux-x86-64.so.2",
        "libc.so.6",
        "libdl.so.2",
        "libgcc_s.so.1",
        "libm.so.6",
        "libpthread.so.0",
        "librt.so.1",
        "libstdc++.so.6",
    )
)
"""Libraries that manylinux wheels may be linked to."""


@dataclass(frozen=True)
class Observed:
    """A wheel's libraries, and how its vendor appears without a device."""

    distribution: str
    sizes: dict[str, int]
    """Bytes of each library."""
    needed: frozenset[str]
    """Names of all libraries that they are linked to."""
    imports: str
    """Output of ``import torch``."""
    vendors: tuple[tuple[str, str], ...]
    """Name of each of the wheel's vendors, and why it has no device."""

    def problems(self) -> list[str]:
        """Return what is wrong, one line each."""
        found = []
        if not self.sizes:
            found.append("has no library")
        found += [f"is linked to {name}" for name in sorted(self.needed - SYSTEM_LIBRARIES)]
        if self.imports:
            found.append(f"import torch prints {self.imports.splitlines()[0]!r}")
        if not self.vendors:
            found.append("`dl doctor` lists no vendor of it")
        found += [
            f"`dl doctor` gives no reason why {name} has no device"
            for name, reason in self.vendors
            if not reason
        ]
        return [f"{self.distribution}: {problem}" for problem in found]

    def __str__(self) -> str:
        sizes = ", ".join(f"{name} {size / 1e6:.1f} MB" for name, size in self.sizes.items())
        reasons = (f"{name} has no device: {reason}" for name, reason in self.vendors)
        return "\n  ".join((f"{self.distribution}: {sizes}", *reasons))


def observe(distributions: Sequence[str]) -> list[Observed]:
    """Examine installed distributions.

    :raises importlib.metadata.PackageNotFoundError: one is not installed.
    """
    imports = _run("-W", "error", "-c", "import torch")
    vendors = json.loads(_run("-m", "dl_core", "doctor", "--json"))["vendors"]
    return [_observed(each, imports, vendors) for each in distributions]


def _observed(distribution: str, imports: str, listed: list[dict[str, str]]) -> Observed:
    files = importlib.metadata.distribution(distribution).files or ()
    paths = [Path(str(file.locate())) for file in files if file.name.endswith(".so")]
    needed = frozenset(name for path in paths for name in read_elf(path).needed)
    vendors = tuple(
        (vendor["name"], vendor["no_device"])
        for vendor in listed
        if vendor["wheel"].split()[0] == distribution
    )
    return Observed(
        distribution, {p.name: p.stat().st_size for p in paths}, needed, imports, vendors
    )


def _run(*arguments: str) -> str:
    """Return the output of Python; a failure is included, since `dl doctor` may exit with 1."""
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False)
    return done.stdout or done.stderr


def main(distributions: list[str]) -> int:
    if not distributions:
        print("python -m tools.device_wheels: name the distributions to check", file=sys.stderr)
        return 2
    try:
        observed = observe(distributions)
    except importlib.metadata.PackageNotFoundError as error:
        print(
            f"{error.name}: not installed; the build says which compiler it needs", file=sys.stderr
        )
        return 1
    found = [problem for each in observed for problem in each.problems()]
    print(*observed, *found, sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
