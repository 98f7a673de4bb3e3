"""Build and test dl-vendor-rocm without an AMD GPU: kernels by g++, on a fake driver.

    python packages/vendor-rocm/tools/simulated.py            builds everything and tests it
    python packages/vendor-rocm/tools/simulated.py --only-build FOLDER

It runs this package's tests, the repository's models, and a tenth of the conformance suite, on
devices with waves of 32 and of 64 threads; further options are passed to the suite: ``--sample 1``
runs every case. With the folder in PYTHONPATH, ``dl conformance --vendor rocm --simulate`` uses the
build. Kernels are slow there, because the threads of a block are fibers on one thread.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).absolute().parents[3]))

from tools import simulated_wheels
from tools.simulated_wheels import ROOT, SAMPLE, environment, run, run_conformance

PACKAGE = Path(__file__).absolute().parents[1]
GIVEN = "DL_TEST_ROCM_SIMULATED"
"""Variable with the folder of a build with all families, for the tests."""
PROCESSORS = {32: "gfx1030", 64: "gfx90a"}
"""A processor for each wave size."""
MODELS = (str(ROOT / "tests" / "models" / "test_simulated.py"), "-k", "rocm")


def build(folder: Path, families: Sequence[str] = ()) -> Path:
    """Install dl-vendor-rocm for simulated devices into a folder and return it.

    :param families: families of operators; empty for all.
    """
    variables = {"DL_ROCM_ARCH": "emulated", "DL_ROCM_FAMILIES": ",".join(families)}
    return simulated_wheels.build(PACKAGE, folder, variables)


def main() -> int:
    parser = simulated_wheels.option_parser(str(__doc__))
    parser.add_argument(
        "--families", default="", help="comma-separated families of operators (default: all)"
    )
    options, rest = parser.parse_known_args()
    folder = (options.only_build or ROOT / "build" / "rocm-simulated").absolute()
    build(folder, [name for name in options.families.split(",") if name])
    if options.only_build:
        return 0
    variables = environment(folder, GIVEN)
    failed = run(["-m", "pytest", "-q", str(PACKAGE / "tests")], variables)
    # The models are compared with dl's CPU vendor, and each trains in a process of its own.
    on_cpu = {**variables, "DL_VENDORS": "cpu", "DL_TEST_SAMPLE": "1"}
    failed |= run(["-m", "pytest", "-q", *MODELS], on_cpu)
    for wave, processor in PROCESSORS.items():
        name = f"rocm-simulated-{wave}"
        wanted = {**variables, "FAKE_HIP_DEVICES": processor}
        failed |= run_conformance("rocm", name, rest or SAMPLE, wanted)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
