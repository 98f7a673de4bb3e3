"""dl-vendor-rocm on machines without AMD's cards: kernels by g++, on a fake driver that runs them.

    python packages/vendor-rocm/tools/simulated.py            builds all, and tests it
    python packages/vendor-rocm/tools/simulated.py --only-build FOLDER

What it tests is this folder's tests, the repository's models, and a tenth of the conformance suite,
on cards with waves of 32 and of 64 threads; further options go to the suite: ``--sample 1`` is all
of it. With the folder in PYTHONPATH, ``dl conformance --vendor rocm --simulate`` runs on what was
built. Kernels are slow there: the fibers that play the threads of a block take turns.
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
"""The variable that names a folder with all families, for the tests."""
CARDS = {32: "gfx1030", 64: "gfx90a"}
"""A processor by the threads of its waves."""
MODELS = (str(ROOT / "tests" / "models" / "test_simulated.py"), "-k", "rocm")
SAMPLE = ("--sample", "10/1")


def build(folder: Path, families: Sequence[str] = ()) -> Path:
    """Install dl-vendor-rocm for simulated cards into a folder, beside what is there.

    :param families: of operators; none for all.
    :returns: the folder.
    :raises CalledProcessError: it does not build.
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
    """What makes Python find what was built before any other dl-vendor-rocm."""
    path = os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")]))
    return {**os.environ, "PYTHONPATH": path, GIVEN: str(folder)}


def run(command: Sequence[str], variables: Mapping[str, str]) -> int:
    print(*command, flush=True)
    return subprocess.run([sys.executable, *command], env=variables, check=False).returncode


def main() -> int:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--only-build", type=Path, metavar="FOLDER", help="and where to")
    parser.add_argument("--families", default="", help="some, with commas; all by default")
    options, rest = parser.parse_known_args()
    folder = (options.only_build or ROOT / "build" / "rocm-simulated").absolute()
    build(folder, [name for name in options.families.split(",") if name])
    if options.only_build:
        return 0
    variables = environment(folder)
    failed = run(["-m", "pytest", "-q", str(PACKAGE / "tests")], variables)
    # The models are judged by what they do on dl's CPU, and each trains in a process of its own.
    on_cpu = {**variables, "DL_VENDORS": "cpu", "DL_TEST_SAMPLE": "1"}
    failed |= run(["-m", "pytest", "-q", *MODELS], on_cpu)
    for wave, processor in CARDS.items():
        report = ROOT / "build" / "conformance" / f"rocm-simulated-{wave}.json"
        report.parent.mkdir(parents=True, exist_ok=True)
        suite = ["-m", "dl_conformance", "--vendor", "rocm", "--simulate", "--json", str(report)]
        given = rest or [*SAMPLE, "--seconds", "300"]
        failed |= run([*suite, *given], {**variables, "FAKE_HIP_CARDS": processor})
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
