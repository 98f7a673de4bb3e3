"""Build and test dl-vendor-ascend without an NPU: on fakes of CANN's libraries.

    python packages/vendor-ascend/tools/simulated.py            builds everything and tests it
    python packages/vendor-ascend/tools/simulated.py --only-build FOLDER

It runs this package's tests, those of torch.distributed on two ranks, and a tenth of the
conformance suite; further options are passed to the suite: ``--sample 1`` runs every case. With the
folder in PYTHONPATH, ``dl conformance --vendor ascend --simulate`` uses the build. The build is
kept until a source changes.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

PACKAGE = Path(__file__).absolute().parents[1]
ROOT = PACKAGE.parents[1]
KIT = ROOT / "packages" / "vendor-kit"
GIVEN = "DL_TEST_ASCEND_SIMULATED"
"""Variable with the folder of a build, for the tests."""
SOURCES = (PACKAGE, KIT / "include", KIT / "tests" / "fakes", ROOT / "packages" / "diopi-proto")
SUFFIXES = {".cpp", ".h", ".hpp", ".py", ".toml"}
DISTRIBUTED = ROOT / "tests" / "distributed"
SAMPLE = ("--sample", "10/1", "--seconds", "300")


def digest() -> str:
    """Return a hash of everything that the build depends on."""
    state = hashlib.sha256(sys.version.encode())
    for folder in SOURCES:
        for path in sorted(folder.rglob("*")):
            inside = path.relative_to(folder).parts
            if path.suffix in SUFFIXES and not {"build", "dist", "__pycache__"} & set(inside):
                state.update(str(path.relative_to(ROOT)).encode() + path.read_bytes())
    return state.hexdigest()


def build(folder: Path) -> Path:
    """Install dl-vendor-ascend with the fakes into a folder, unless it is there already.

    :returns: the folder.
    :raises CalledProcessError: the build fails.
    """
    stamp, wanted = folder / "stamp", digest()
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == wanted:
        return folder
    stamp.unlink(missing_ok=True)
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    options = ("--no-deps", "--no-index", "--no-build-isolation", "--upgrade")
    subprocess.run(
        [*command, *options, "--target", str(folder), str(PACKAGE)],
        env={**os.environ, "DL_ASCEND_SIMULATED": "1"},
        check=True,
    )
    stamp.write_text(wanted, encoding="utf-8")
    return folder


def environment(folder: Path) -> dict[str, str]:
    """Return the variables with which Python finds the build before any other dl-vendor-ascend."""
    path = os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")]))
    return {**os.environ, "PYTHONPATH": path, GIVEN: str(folder)}


def run(command: Sequence[str], variables: Mapping[str, str]) -> int:
    print(*command, flush=True)
    return subprocess.run([sys.executable, *command], env=variables, check=False).returncode


def main() -> int:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument(
        "--only-build", type=Path, metavar="FOLDER", help="build into FOLDER and do not test"
    )
    options, rest = parser.parse_known_args()
    folder = (options.only_build or ROOT / "build" / "ascend-simulated").absolute()
    build(folder)
    if options.only_build:
        return 0
    variables = environment(folder)
    failed = run(["-m", "pytest", "-q", str(PACKAGE / "tests")], variables)
    ranks = [str(DISTRIBUTED / f"test_{name}.py") for name in ("collectives", "models")]
    failed |= run(["-m", "pytest", "-q", "-k", "hccl", *ranks], variables)
    report = ROOT / "build" / "conformance" / "ascend-simulated.json"
    report.parent.mkdir(parents=True, exist_ok=True)
    suite = ["-m", "dl_conformance", "--vendor", "ascend", "--simulate", "--json", str(report)]
    return failed | run([*suite, *(rest or SAMPLE)], variables)


if __name__ == "__main__":
    sys.exit(main())
