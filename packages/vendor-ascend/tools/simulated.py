"""Build and test dl-vendor-ascend without an NPU: on fakes of CANN's libraries.

    python packages/vendor-ascend/tools/simulated.py            builds everything and tests it
    python packages/vendor-ascend/tools/simulated.py --only-build FOLDER

It runs this package's tests, tests of torch.distributed on two ranks, and a tenth of the
conformance suite; further options are passed to the suite: ``--sample 1`` runs every case. With the
folder in PYTHONPATH, ``dl conformance --vendor ascend --simulate`` uses the build. The build is
kept until a source changes.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).absolute().parents[3]))

from tools.simulated_wheels import ROOT, main_with_fakes

PACKAGE = Path(__file__).absolute().parents[1]
DISTRIBUTED = ROOT / "tests" / "distributed"
RANKS = [str(DISTRIBUTED / f"test_{name}.py") for name in ("collectives", "models")]

if __name__ == "__main__":
    sys.exit(main_with_fakes(str(__doc__), PACKAGE, ["-k", "hccl", *RANKS]))
