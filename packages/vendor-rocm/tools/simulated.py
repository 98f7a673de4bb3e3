"""Build and test dl-vendor-rocm without an AMD GPU: kernels by g++, on a fake driver.

    python packages/vendor-rocm/tools/simulated.py            builds everything and tests it
    python packages/vendor-rocm/tools/simulated.py --only-build FOLDER

It runs this package's tests, the repository's models, and a tenth of the conformance suite, on
devices with waves of 32 and of 64 threads; further options are passed to the suite: ``--sample 1``
runs every case. With the folder in PYTHONPATH, ``dl conformance --vendor rocm --simulate`` uses the
build. Kernels are slow there, because the threads of a block are fibers on one thread.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

PACKAGE = Path(__file__).absolute().parents[1]
ROOT = PACKAGE.parents[1]
GIVEN = "DL_TEST_ROCM_SIMULATED"
"""Variable with the folder of a build with all families, for the tests."""
PROCESSORS = {32: "gfx1030", 64: "gfx90a"}
"""A processor for each wave size."""
MODELS = (str(ROOT / "tests" / "models" / "test_simulated.py"), "-k", "rocm")
SAMPLE = ("--sample", "10/1")


def build(folder: Path, families: Sequence[str] = ()) -> Path:
    """Install dl-vendor-rocm for simulated devices into a folder.

    :param families: families of operators; empty for all.
    :returns: the folder.
    :raises CalledProcessError: the build fails.
    """
    variables = {"DL_ROCM_ARCH": "emulated", "DL_ROCM_FAMILIES": ",".join(families)}
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    options = ("--no-deps", "--no-index", "--no-build-isolation", "--upgrade")
    subprocess.run(
        [*command, *options, "--target", str(folder), str(PACKAGE)],
        env={**os.environ, **variables},
        check=True,
    )
    return folder


def environment(folder: Path) -> dict[str, str]:
    """Return the variables with which Python finds the build before any other dl-vendor-rocm."""
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
    parser.add_argument(
        "--families", default="", help="comma-separated families of operators (default: all)"
    )
    options, rest = parser.parse_known_args()
    folder = (options.only_build or ROOT / "build" / "rocm-simulated").absolute()
    build(folder, [name for name in options.families.split(",") if name])
    if options.only_build:
        return 0
    variables = environment(folder)
    failed = run(["-m", "pytest", "-q", str(PACKAGE / "tests")], variables)
    # The models are compared with dl's CPU vendor, and each trains in a process of its own.
    on_cpu = {**variables, "DL_VENDORS": "cpu", "DL_TEST_SAMPLE": "1"}
    failed |= run(["-m", "pytest", "-q", *MODELS], on_cpu)
    for wave, processor in PROCESSORS.items():
        report = ROOT / "build" / "conformance" / f"rocm-simulated-{wave}.json"
        report.parent.mkdir(parents=True, exist_ok=True)
        suite = ["-m", "dl_conformance", "--vendor", "rocm", "--simulate", "--json", str(report)]
        given = rest or [*SAMPLE, "--seconds", "300"]
        failed |= run([*suite, *given], {**variables, "FAKE_HIP_DEVICES": processor})
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
