"""Every operator that the executor splits into blocks has the same results as a whole call."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from diopi_proto.errors import DiopiError
from diopi_proto.host import Vendor, load_vendor
from diopi_proto.host.cabi import text
from diopi_proto.schema import Operator, Parameter
from diopi_proto.schema import load as load_schema
from dl_core import _C
from dl_graph import ContractGraph, GraphBuilder, Session, Value
from dl_graph.native import native

SHAPE = (5, 3, 37)
"""Number of rows. Blocks have unequal sizes, and vector loops have remainders."""

BROADCAST = ((5, 3, 37), (37,), (3, 1), (5, 1, 37))
"""Shapes of the input tensors after the first one, in order."""

DTYPES = ("float32", "bool", "int64", "uint8")
"""Dtypes for an operator's tensors, of which the first supported one is used."""

SCALARS: dict[str, Any] = {"dim": -1, "keepdim": True, "p": 2.0, "ord": 2.0, "correction": 1}


def rule(operator: str) -> str:
    return text(native().dl_contract_row_rule(operator.encode()))


CUT = [name for name in load_schema() if rule(name)]


@pytest.fixture(scope="module")
def vendor() -> Vendor:
    torch.empty(0, device="dl")
    return load_vendor(_C.device_info(0)["library"])


def dtypes_of(operator: Operator) -> list[str]:
    """Return the dtypes that all tensors without a separate rule support."""
    tensors = [p for p in operator.params if p.is_tensor or p.is_tensor_pointer]
    first = next((p for p in tensors if p.direction != "out"), tensors[0])
    return [d for d in DTYPES if d in _names(first.dtype)] or ["float32"]


def _names(listed: Any) -> set[str]:
    groups = {
        "float": {"float32"},
        "integer": {"uint8", "int64"},
        "real": {"float32", "uint8", "int64"},
        "number": {"float32", "uint8", "int64"},
        "all": {*DTYPES},
        "any": {*DTYPES},
    }
    found: set[str] = set()
    for each in str(listed).replace(",", " ").split():
        found |= groups.get(each, {each})
    return found


class Case:
    """Graph of one call, with its inputs."""

    def __init__(self, operator: Operator, dtype: str, seed: int) -> None:
        self.operator = operator
        self.dtype = dtype
        self.random = np.random.default_rng(seed)
        self.inputs: dict[str, Any] = {}
        self.results: dict[str, Value] = {}
        self.builder = GraphBuilder()
        self.entry = self.builder.entry("main")
        self.read = 0

    def build(self) -> ContractGraph:
        arguments = [
            self.argument(parameter)
            for parameter in self.operator.params[1:]
            if not self.operator.count_of(parameter.name)
        ]
        self.entry.call(self.operator.name, *arguments)
        for name, value in self.results.items():
            self.entry.output(f"made_{name}", value)
        return self.builder.build()

    def argument(self, parameter: Parameter) -> Any:
        kind = parameter.value_type.removeprefix("const ").removesuffix("*")
        if parameter.is_tensor:
            return self.tensor(parameter)
        if parameter.is_tensor_pointer:
            return [self.add_input(f"{parameter.name}{i}", SHAPE, self.dtype) for i in range(2)]
        if parameter.values:
            return parameter.values[0]
        if parameter.name == "normalized_shape":
            return [SHAPE[-1]]
        if kind == "diopiSize_t":
            return [2]
        if kind == "diopiRoundMode_t":
            return "RoundModeFloor"
        if parameter.name in SCALARS:
            return SCALARS[parameter.name]
        return {"bool": False, "diopiScalar_t": 0.5 if self.dtype == "float32" else 1}.get(kind, 1)

    def tensor(self, parameter: Parameter) -> Value | None:
        name = parameter.name
        if name in ("grad_weight", "grad_bias"):
            return None
        if parameter.direction == "out":
            value = self.entry.empty(self.choose_shape(name), self.choose_dtype(parameter))
            self.results[name] = value
            return value
        shape = SHAPE
        if rule(self.operator.name) == "along":
            shape = {
                "weight": SHAPE[-1:],
                "bias": SHAPE[-1:],
                "mean": (5, 3, 1),
                "rstd": (5, 3, 1),
            }.get(name, SHAPE)
        elif name == "value":
            shape = ()
        elif self.read and not self.operator.gradient_of:
            shape = BROADCAST[self.read % len(BROADCAST)]
        self.read += 1
        wanted = _names(parameter.dtype)
        dtype = self.dtype if self.dtype in wanted or not wanted & {*DTYPES} else "bool"
        value = self.add_input(name, shape, dtype)
        if parameter.direction == "inout":
            self.results[name] = value
        return value

    def choose_shape(self, name: str) -> tuple[int, ...]:
        short = self.operator.name.removeprefix("diopi")
        if name in ("save_mean", "save_invstd", "inv_rms"):
            return (5, 3, 1)
        if short in ("Sum", "Mean", "Prod", "Std", "Norm"):
            return SHAPE[:-1]
        if short in ("Amax", "LinalgVecNorm"):
            return (5, 3, 1)
        return (5, 3, 74) if short == "Cat" else SHAPE

    def choose_dtype(self, parameter: Parameter) -> str:
        listed = str(parameter.dtype)
        if listed.startswith("float of"):
            return "float32"
        return "bool" if listed in ("bool", "['bool']", "('bool',)") else self.dtype

    def add_input(self, name: str, shape: tuple[int, ...], dtype: str) -> Value:
        if dtype == "float32":
            made = self.random.uniform(0.1, 0.9, shape).astype(dtype)
        else:
            made = self.random.integers(0 if dtype == "bool" else 1, 2, shape).astype(dtype)
        self.inputs[name] = made
        return self.entry.input(name, shape, dtype)


def run(case: Case, graph: ContractGraph, vendor: Vendor, **how: bool) -> dict[str, Any]:
    given = {name: array.copy() for name, array in case.inputs.items()}
    with Session(graph, vendor, poison=True, **how) as session:
        return session.run("main", given, {})


@pytest.mark.parametrize("name", CUT)
def test_blocks_give_what_a_whole_call_gives(name: str, vendor: Vendor) -> None:
    operator = load_schema()[name]
    tried = 0
    for seed, dtype in enumerate(dtypes_of(operator)):
        case = Case(operator, dtype, seed)
        try:
            graph = case.build()
            whole = run(case, graph, vendor, whole=True)
        except DiopiError as refused:
            reason = str(refused)
            continue
        tried += 1
        blocks = run(case, graph, vendor, blocks=True)
        for key, wanted in whole.items():
            if rule(name) == "along":  # a vendor may sum in another order if there are more rows
                assert np.allclose(blocks[key], wanted, rtol=1e-5, atol=1e-6), (key, dtype)
            else:
                assert blocks[key].tobytes() == wanted.tobytes(), (key, dtype)
    assert tried, reason


def test_most_of_the_common_operators_are_known() -> None:
    wanted = {
        "Add",
        "Mul",
        "Gelu",
        "Silu",
        "Softmax",
        "LayerNorm",
        "RMSNorm",
        "Sum",
        "Where",
        "Cat",
    }
    assert {f"diopi{name}" for name in wanted} <= {*CUT}
    for name in ("Dropout", "Mm", "Addmm", "Bernoulli", "BatchNorm", "IndexSelect"):
        assert rule(f"diopi{name}") == ""
    assert rule("nothing") == ""
