"""Tests of the simulated operator library: each function computes what torch does for arguments of
the same names.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parent / "fakes"))

from ascend.operators.calls import Library, Tensor
from ascend.operators.generate import find_meanings, read_structure

from ascend_meaning import elementwise, layers, moves, reductions
from ascend_meaning.case import Case, Out, Ref

CASES = [case for part in (elementwise, reductions, moves, layers) for case in part.cases()]

# Functions that no case calls: random numbers, shapes that depend on data (tested below), sizes
# that only inference has, and functions without a counterpart in torch.
UNCOMPARED = {
    "ApplyRotaryPosEmb", "ChamferDistanceBackward", "DropoutDoMask", "DropoutGenMask",
    "InplaceBernoulli", "InplaceBernoulliTensor", "InplaceNormal", "InplaceRandom",
    "InplaceUniform", "MaskedSelect", "Multinomial", "MultiScaleDeformableAttentionGrad",
    "MultiScaleDeformableAttnFunction", "Nonzero", "NpuFormatCast", "Randperm", "RoiAlignV2",
    "RoiAlignV2Backward", "Unique2",
}  # fmt: skip


class Call:
    """Arguments of a case on the device."""

    def __init__(self, library: Library, case: Case) -> None:
        self.library = library
        self.expected = iter(case.expected)
        self.results: list[tuple[Tensor, Any]] = []
        self.arguments = [self._argument(each) for each in case.arguments]

    def _argument(self, value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return self.library.tensor(value)
        if isinstance(value, (Out, Ref)):
            wanted = np.asarray(next(self.expected))
            start = value.value if isinstance(value, Ref) else np.zeros_like(wanted)
            tensor = self.library.tensor(start)
            self.results.append((tensor, wanted))
            return tensor
        if isinstance(value, list) and any(isinstance(x, (np.ndarray, Out, Ref)) for x in value):
            return [self._argument(each) for each in value]
        return value


@pytest.mark.parametrize("case", CASES, ids=[f"{i}-{case.name}" for i, case in enumerate(CASES)])
def test_function_computes_what_torch_does(ascend_operators: Library, case: Case) -> None:
    with ascend_operators.scope():
        call = Call(ascend_operators, case)
        ascend_operators.call(case.name, *call.arguments)
        assert next(call.expected, None) is None
        for tensor, wanted in call.results:
            tolerance = {"rtol": case.tolerance, "atol": case.tolerance}
            np.testing.assert_allclose(tensor.numpy(), wanted, **tolerance)


def test_every_function_has_a_meaning_and_a_case() -> None:
    names = set(read_structure())
    assert names - find_meanings() == {"aclnnNpuFormatCast"}
    uncompared = {f"aclnn{name}" for name in UNCOMPARED}
    assert names - {case.name for case in CASES} == uncompared


def test_shapes_that_depend_on_data_are_reported(ascend_operators: Library) -> None:
    library = ascend_operators
    x = np.array([[3, 0], [1, 3]])
    with library.scope():
        out = library.tensor(np.zeros((4, 2), "int64"))
        library.call("aclnnNonzero", library.tensor(x), out)
        assert library.view_shape(out) == [3, 2]
        assert out.numpy()[:3].tolist() == [[0, 0], [1, 0], [1, 1]]
        out = library.tensor(np.zeros(4, "int64"))
        library.call("aclnnMaskedSelect", library.tensor(x), library.tensor(x > 0), out)
        assert library.view_shape(out) == [3]
        assert out.numpy()[:3].tolist() == [3, 1, 3]
        outs = [library.tensor(np.zeros(4, "int64")) for _ in range(3)]
        outs[1] = library.tensor(np.zeros((2, 2), "int64"))
        library.call("aclnnUnique2", library.tensor(x), True, True, True, *outs)
        assert library.view_shape(outs[0]) == library.view_shape(outs[2]) == [3]
        assert outs[0].numpy()[:3].tolist() == [0, 1, 3]
        assert outs[1].numpy().tolist() == [[2, 0], [1, 2]]
        assert outs[2].numpy()[:3].tolist() == [1, 1, 2]


RANDOM = [
    ("Normal", (2.0, 0.5, 7, 0), 2.0),
    ("Uniform", (1.0, 3.0, 7, 0), 2.0),
    ("Random", (1, 4, 7, 0), 2.0),
    ("Bernoulli", (0.25, 7, 0), 0.25),
]


@pytest.mark.parametrize(("name", "arguments", "mean"), RANDOM)
def test_random_numbers_have_their_distribution(
    ascend_operators: Library, name: str, arguments: tuple[Any, ...], mean: float
) -> None:
    with ascend_operators.scope():
        tensor = ascend_operators.tensor(np.zeros(4000, "float32"))
        ascend_operators.call(f"aclnnInplace{name}", tensor, *arguments)
        assert abs(tensor.numpy().mean() - mean) < 0.1


def test_dropout_keeps_and_scales(ascend_operators: Library) -> None:
    library = ascend_operators
    with library.scope():
        x, out = library.tensor(np.ones(1024, "float32")), library.tensor(np.zeros(1024, "float32"))
        mask = library.tensor(np.zeros(128, "uint8"))
        library.call("aclnnDropoutGenMask", [1024], 0.25, 7, 0, mask)
        library.call("aclnnDropoutDoMask", x, mask, 0.25, out)
        found = out.numpy()
        assert set(np.unique(found)) == {np.float32(0), np.float32(1 / 0.75)}
        assert abs((found == 0).mean() - 0.25) < 0.06
