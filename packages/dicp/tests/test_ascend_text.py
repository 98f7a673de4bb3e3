"""The text for Ascend's graph engine is well formed and represents the graph. No GE runs."""

from __future__ import annotations

import re
from math import prod

import pytest
import torch
from torch import Tensor

from dl_dicp import statistics
from dl_dicp.compiled import all_graphs
from dl_dicp.engines.ascend_text import AscendText

# Number of inputs and outputs, and the attributes, by type, from GE's prototypes.
PROTOTYPES = {
    "Data": (0, 1, {"index"}),
    "Const": (0, 1, {"value"}),
    "Reshape": (2, 1, set()),
    "Add": (2, 1, set()),
    "Mul": (2, 1, set()),
    "Relu": (1, 1, set()),
    "GeluV2": (1, 1, {"approximate"}),
    "SoftmaxV2": (1, 1, {"axes", "half_to_float"}),
    "RmsNorm": (2, 2, {"epsilon"}),
    "MatMulV2": (2, 1, {"transpose_x1", "transpose_x2", "offset_x"}),
    "BatchMatMulV2": (2, 1, {"adj_x1", "adj_x2"}),
}


def model(x: Tensor, weight: Tensor, scale: Tensor, q: Tensor) -> Tensor:
    normed = torch.nn.functional.rms_norm(x, scale.shape, scale, 1e-6)
    hidden = torch.nn.functional.gelu(normed @ weight.T, approximate="tanh")
    return torch.softmax(q @ hidden.mT, -1) + torch.relu(q @ hidden.mT)


def check(text: str) -> list[str]:
    """Check that the text is well formed; return the types in order."""
    assert text.startswith("# simulated")
    made: dict[str, list[int]] = {}
    kinds = []
    for block in re.findall(r"^  op \{\n(.*?)^  \}\n", text, re.MULTILINE | re.DOTALL):
        (name,), (kind,) = (
            re.findall(rf'^\s+{x}: "(\w+)"$', block, re.M) for x in ("name", "type")
        )
        inputs = re.findall(r'^\s+input: "([\w:]+)"$', block, re.MULTILINE)
        outputs = [
            [int(x) for x in re.findall(r"dim: (\d+)", line)]
            for line in re.findall(r"^\s+output_desc .*$", block, re.MULTILINE)
        ]
        attributes = set(re.findall(r'key: "(\w+)"', block))
        wants, gives, known = PROTOTYPES[kind]
        assert (len(inputs), len(outputs)) == (wants, gives) and attributes <= known, block
        shapes = [made[each] for each in inputs]  # inputs must have been written
        if kind == "MatMulV2":
            turned = ["true" in line for line in block.splitlines() if "transpose_x" in line]
            (m, k), (same, n) = (s[::-1] if t else s for s, t in zip(shapes, turned, strict=True))
            assert k == same and outputs == [[m, n]], block
        if kind == "Reshape":
            assert prod(shapes[0]) == prod(outputs[0])
        made |= {f"{name}:{place}": shape for place, shape in enumerate(outputs)}
        kinds.append(kind)
    assert all(each in made for each in re.findall(r'^  output: "([\w:]+)"$', text, re.MULTILINE))
    return kinds


def compiled(engine: str) -> Tensor:
    torch.manual_seed(0)
    sizes = ((2, 4, 8), (6, 8), (8,), (2, 3, 6))
    given = [torch.rand(size, device="dl") for size in sizes]
    options = {"engine": engine, "patterns": False}
    run = torch.compile(model, backend="dl", options=options)
    with torch.no_grad():
        run(*given)
        return run(*given)


def test_the_text_is_well_formed() -> None:
    compiled("contract")
    (graph,) = all_graphs
    (region,) = graph.variants[0].program.regions  # type: ignore[union-attr]
    engine = AscendText()
    assert all(engine.accepts(region.document))
    kinds = check(engine.compile(region.document).decode())
    calls = [kind for kind in kinds if kind not in ("Data", "Const", "Reshape")]
    wanted = ["RmsNorm", "MatMulV2", "GeluV2", "BatchMatMulV2", "SoftmaxV2", "BatchMatMulV2"]
    assert calls == [*wanted, "Relu", "Add"]


def test_a_wrong_text_is_found() -> None:
    compiled("contract")
    (graph,) = all_graphs
    (region,) = graph.variants[0].program.regions  # type: ignore[union-attr]
    text = AscendText().compile(region.document).decode()
    for change in (('input: "call0:0"', 'input: "call9:0"'), ("b: true", "b: false")):
        assert change[0] in text
        with pytest.raises((AssertionError, KeyError)):
            check(text.replace(*change))


def test_chosen_as_engine_it_runs_nothing_and_results_stay() -> None:
    wanted = compiled("contract")
    torch._dynamo.reset()
    with pytest.warns(RuntimeWarning, match="cannot run them \\(simulated\\)"):
        assert torch.equal(compiled("ascend-text"), wanted)
    assert not statistics.engine_runs and statistics.dropped
