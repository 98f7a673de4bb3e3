"""Mutated files of exported models, on the operators of the CPU vendor: rejected, or run."""

from __future__ import annotations

import os
import random
import sys
import warnings
from pathlib import Path

from diopi_proto import DiopiError, load_vendor
from dl_graph import read

from .graphs import _TESTS
from .kind import Case, Kind

_MODELS = Path(__file__).parents[2] / "packages" / "dicp" / "tests"
_LIBRARY = "library.txt"


def prepare(folder: Path) -> None:
    warnings.simplefilter("ignore")
    os.environ["DL_VENDORS"] = "cpu"  # read when torch is imported
    sys.path.insert(0, str(_MODELS))
    import torch

    from dicp_models import MODELS
    from dl_core import _C
    from dl_dicp.export.exporter import export

    for name, (make, inputs) in MODELS.items():
        torch.manual_seed(0)
        export(torch.export.export(make().eval(), inputs())).save(folder / f"{name}.dlg")
    (folder / _LIBRARY).write_text(_C.device_info(0)["library"])


def begin(folder: Path, own: Path) -> Case:
    sys.path.insert(0, str(_TESTS))
    from graph_mutations import mutated_bytes, mutated_document, run

    originals = [path.read_bytes() for path in sorted(folder.glob("*.dlg"))]
    vendor = load_vendor(Path((folder / _LIBRARY).read_text()))
    for original in originals:
        run(read(original), vendor)

    def case(choose: random.Random) -> str:
        # Most bytes belong to constants, which may have any value.
        mutate = choose.choice((mutated_bytes, mutated_document, mutated_document))
        content = mutate(choose.choice(originals), choose)
        try:
            run(read(content), vendor)
        except DiopiError:
            return "refused"
        return "ran"

    return case


KIND = Kind("recorded_graphs", 10000, begin, prepare, batch=1000)
