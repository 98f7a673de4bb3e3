"""Mutated files of contract graphs: rejected by the verifier, or run."""

from __future__ import annotations

import random
import sys
from pathlib import Path

from diopi_proto import DiopiError, load_vendor
from dl_graph import read

from .instrumented import vendor_flags
from .kind import Case, Kind

_TESTS = Path(__file__).parents[2] / "packages" / "graph" / "tests"


def prepare(folder: Path) -> None:
    sys.path.insert(0, str(_TESTS))
    from graph_models import MODELS
    from graph_vendor import GRAPH_OPERATORS, compile_vendor

    for name, (make, _) in MODELS.items():
        make().build().save(folder / f"{name}.dlg")
    compile_vendor(
        folder / "libvendor.so",
        [*GRAPH_OPERATORS, *vendor_flags()],
        link_flags=[flag for flag in vendor_flags() if flag.startswith("-fsanitize=")],
    )


def begin(folder: Path, own: Path) -> Case:
    sys.path.insert(0, str(_TESTS))
    from graph_mutations import mutated_bytes, mutated_document, run

    originals = [path.read_bytes() for path in sorted(folder.glob("*.dlg"))]
    vendor = load_vendor(folder / "libvendor.so")

    def case(choose: random.Random) -> str:
        mutate = choose.choice((mutated_bytes, mutated_document))
        content = mutate(choose.choice(originals), choose)
        try:
            run(read(content), vendor)
        except DiopiError:
            return "refused"
        return "ran"

    return case


KIND = Kind("graphs", 10000, begin, prepare, batch=1000)
