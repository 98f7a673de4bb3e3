"""The fixture vendor of dl-diopi-proto's tests, with the operators of ``graph_models``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from diopi_proto.build import compile_library

SOURCE = Path(__file__).parents[2] / "diopi-proto" / "tests" / "fixtures" / "vendor.cpp"
GRAPH_OPERATORS = (
    '-DFIXTURE_OPERATORS="graph_operators.inc"',
    f"-I{Path(__file__).parent / 'fixtures'}",
)


def compile_vendor(library: Path, flags: Sequence[str] = GRAPH_OPERATORS, **options: Any) -> Path:
    """Compile the vendor. Without the flags :data:`GRAPH_OPERATORS` it has the operators of the
    contract's tests."""
    return compile_library(library, [SOURCE], compile_flags=["-O1", *flags], **options)
