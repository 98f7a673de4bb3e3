"""Build and test dl-vendor-cambricon without an MLU: on fakes of CNRT and CNNL.

    python packages/vendor-cambricon/tools/simulated.py            builds everything and tests it
    python packages/vendor-cambricon/tools/simulated.py --only-build FOLDER

It runs this package's tests and a tenth of the conformance suite; further options are passed to the
suite: ``--sample 1`` runs every case. With the folder in PYTHONPATH, ``dl conformance --vendor
cambricon --simulate`` uses the build. The build is kept until a source changes.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).absolute().parents[3]))

from tools.simulated_wheels import main_with_fakes

if __name__ == "__main__":
    sys.exit(main_with_fakes(str(__doc__), Path(__file__).absolute().parents[1]))
