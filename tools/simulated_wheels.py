"""Wheels of vendors for simulated devices: builds, and runs of Python with a build.

The scripts ``packages/vendor-*/tools/simulated.py`` share these functions.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).absolute().parents[1]
KIT = ROOT / "packages" / "vendor-kit"
FAKE_SOURCES = (KIT / "include", KIT / "tests" / "fakes", ROOT / "packages" / "diopi-proto")
"""Sources of fake libraries, in addition to the vendor's package."""
SAMPLE = ("--sample", "10/1", "--seconds", "300")
"""A tenth of the conformance suite."""
_SUFFIXES = {".cpp", ".h", ".hpp", ".py", ".toml"}
_LEFT_OUT = {"build", "dist", "__pycache__"}


def digest(folders: Iterable[Path]) -> str:
    """Return a hash of the sources in folders, and of Python's version."""
    state = hashlib.sha256(sys.version.encode())
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            inside = path.relative_to(folder).parts
            if path.suffix in _SUFFIXES and not _LEFT_OUT & set(inside):
                state.update(str(path.relative_to(ROOT)).encode() + path.read_bytes())
    return state.hexdigest()


def build(package: Path, folder: Path, variables: Mapping[str, str], stamp: str = "") -> Path:
    """Install a vendor's package into a folder.

    :param variables: variables of the build.
    :param stamp: hash of the sources: a build with the same one is kept; empty: always build.
    :returns: the folder.
    :raises CalledProcessError: the build fails.
    """
    kept = folder / "stamp"
    if stamp and kept.is_file() and kept.read_text(encoding="utf-8") == stamp:
        return folder
    kept.unlink(missing_ok=True)
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    options = ("--no-deps", "--no-index", "--no-build-isolation", "--upgrade")
    subprocess.run(
        [*command, *options, "--target", str(folder), str(package)],
        env={**os.environ, **variables},
        check=True,
    )
    kept.write_text(stamp, encoding="utf-8")
    return folder


def environment(folder: Path, given: str) -> dict[str, str]:
    """Return the variables with which Python finds a build before an installed wheel.

    :param given: variable that names the folder, for the vendor's tests.
    """
    path = os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")]))
    return {**os.environ, "PYTHONPATH": path, given: str(folder)}


def run(command: Sequence[str], variables: Mapping[str, str]) -> int:
    """Run Python with arguments and return its exit status."""
    print(*command, flush=True)
    return subprocess.run([sys.executable, *command], env=variables, check=False).returncode


def run_conformance(
    vendor: str, name: str, options: Sequence[str], variables: Mapping[str, str]
) -> int:
    """Run the conformance suite on simulated devices; ``name`` names the report."""
    report = ROOT / "build" / "conformance" / f"{name}.json"
    report.parent.mkdir(parents=True, exist_ok=True)
    suite = ["-m", "dl_conformance", "--vendor", vendor, "--simulate", "--json", str(report)]
    return run([*suite, *options], variables)


def option_parser(doc: str) -> argparse.ArgumentParser:
    """Return a parser with the option that all scripts have."""
    parser = argparse.ArgumentParser(description=doc.partition("\n")[0])
    parser.add_argument(
        "--only-build", type=Path, metavar="FOLDER", help="build into FOLDER and do not test"
    )
    return parser


def main_with_fakes(doc: str, package: Path, more_tests: Sequence[str] = ()) -> int:
    """Build a vendor with fakes of its libraries, and run its tests and the suite on them.

    :param doc: the script's description; unknown options go to the suite.
    :param package: folder of the vendor; its setup.py adds fakes if ``DL_<VENDOR>_SIMULATED=1``.
    :param more_tests: pytest's arguments for tests of the repository.
    :returns: the exit status.
    """
    vendor = package.name.removeprefix("vendor-")
    prefix = vendor.upper()
    options, rest = option_parser(doc).parse_known_args()
    folder = (options.only_build or ROOT / "build" / f"{vendor}-simulated").absolute()
    stamp = digest((package, *FAKE_SOURCES))
    build(package, folder, {f"DL_{prefix}_SIMULATED": "1"}, stamp)
    if options.only_build:
        return 0
    variables = environment(folder, f"DL_TEST_{prefix}_SIMULATED")
    failed = run(["-m", "pytest", "-q", str(package / "tests")], variables)
    if more_tests:
        failed |= run(["-m", "pytest", "-q", *more_tests], variables)
    return failed | run_conformance(vendor, f"{vendor}-simulated", rest or SAMPLE, variables)
