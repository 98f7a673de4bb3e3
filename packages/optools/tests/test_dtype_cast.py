from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812  (the name that everybody uses)
from torch.utils.checkpoint import checkpoint

from dl_optools import OpDtypeCast, apply_feature
from dl_optools.call import OpCall
from dl_optools.dtypes import CastOptions, dtype_pairs
from dl_optools.options import OptionError
from watching import Seen

LEVELS = pytest.mark.parametrize("level", ["api", "dispatch"])
HALF = pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])


class Dtypes(Seen):
    """Records the dtypes of operators' arguments and results."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.dtypes: dict[str, tuple[torch.dtype, torch.dtype]] = {}

    def handle(self, call: OpCall) -> Any:
        result = super().handle(call)
        if isinstance(result, torch.Tensor):
            self.dtypes[call.name] = call.args[0].dtype, result.dtype
        return result


@pytest.fixture
def cast(tmp_path: Path) -> Any:
    def make(**options: Any) -> OpDtypeCast:
        return OpDtypeCast(
            **{"device": "cpu", "directory": tmp_path, "stream": io.StringIO(), **options}
        )

    return make


@LEVELS
@HALF
def test_operators_compute_in_the_other_dtype(cast: Any, level: str, dtype: torch.dtype) -> None:
    x = torch.randn(64, dtype=dtype)
    with Dtypes(level=level) as inside, cast(level=level):
        y = torch.exp(x)
    assert y.dtype == dtype and torch.equal(y, x.float().exp().to(dtype))
    assert set(inside.dtypes.values()) == {(torch.float32, torch.float32)}


@LEVELS
def test_other_dtypes_are_left_alone(cast: Any, level: str) -> None:
    x = torch.randn(4)
    with cast(level=level) as tool:
        assert torch.equal(torch.exp(x), x.exp())
        torch.arange(3).add(1)
    assert tool.results.rows() == []


@LEVELS
def test_in_place_functions_write_to_the_programs_tensor(cast: Any, level: str) -> None:
    x = torch.ones(3, dtype=torch.float16)
    alias, column = x[1:], torch.zeros(2, 2, dtype=torch.float16)
    with cast(level=level):
        assert x.add_(1) is x
        x[0] = 7
        column[:, 0].add_(3)
        torch._foreach_mul_([x], 2)
    assert x.tolist() == [14, 4, 4] and alias.tolist() == [4, 4]
    assert column.tolist() == [[3, 0], [3, 0]]


@LEVELS
def test_out_arguments_are_written_and_resized(cast: Any, level: str) -> None:
    x = torch.ones(2, 3, dtype=torch.float16)
    out, empty = torch.zeros_like(x), torch.empty(0, dtype=torch.float16)
    with cast(level=level):
        assert torch.add(x, x, out=out) is out
        torch.add(x, x, out=empty)
    assert torch.equal(out, x + x) and torch.equal(empty, x + x)


@LEVELS
@pytest.mark.parametrize(
    "view",
    [
        lambda x: x.t(),
        lambda x: torch.transpose(x, 0, 1),
        lambda x: x.flatten(),
        lambda x: x[1],
        lambda x: x[:, None],
        lambda x: x.view(3, 2),
        lambda x: torch.split(x, 1)[0],
        lambda x: x.unbind()[1],
        lambda x: x.expand(4, 2, 3),
        lambda x: x.detach(),
        lambda x: x.t_(),
        lambda x: x.half(),
        lambda x: x.to(torch.float16),
        lambda x: x.contiguous(),
        lambda x: F.dropout(x, training=False),
    ],
)
def test_views_share_the_programs_memory(cast: Any, level: str, view: Any) -> None:
    x = torch.zeros(2, 3, dtype=torch.float16)
    with cast(level=level) as tool:
        y = view(x)
    x.add_(1)
    assert y.dtype == torch.float16 and bool((y == 1).all())
    assert tool.results.rows() == []


@LEVELS
@pytest.mark.parametrize(
    ("convert", "dtype"),
    [
        (lambda x: x.float(), torch.float32),
        (lambda x: x.double(), torch.float64),
        (lambda x: x.to(torch.bfloat16), torch.bfloat16),
        (lambda x: x.type_as(torch.ones(1)), torch.float32),
        (lambda x: x.int(), torch.int32),
        (lambda x: torch.empty(3).copy_(x), torch.float32),
    ],
)
def test_conversions_return_the_requested_dtype(
    cast: Any, level: str, convert: Any, dtype: torch.dtype
) -> None:
    x = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float16)
    with cast(level=level) as tool:
        y = convert(x)
    assert y.dtype == dtype and y.tolist() == [1, 2, 3] and tool.results.rows() == []


def test_other_values_are_unchanged(cast: Any) -> None:
    x = torch.tensor([1.0, 2.0], dtype=torch.float16)
    with cast():
        assert x.numpy().dtype == "float16" and x.tolist() == [1.0, 2.0]
        assert torch.is_floating_point(x) and torch.result_type(x, 1) == torch.float16
        assert torch.sum(x).item() == 3.0


HALVES = torch.ones(2, 3, dtype=torch.float16)


@LEVELS
@pytest.mark.parametrize(
    "function",
    [
        lambda: F.softmax(HALVES, dim=-1, dtype=torch.float32),
        lambda: HALVES.sum(dtype=torch.float32),
        lambda: torch.add(HALVES, torch.ones(3)),
        lambda: torch.add(HALVES, torch.tensor(2.0)),
        lambda: torch.add(HALVES, HALVES.bfloat16()),
        lambda: torch.zeros_like(HALVES, dtype=torch.float32),
        lambda: F.layer_norm(HALVES, (3,)),
        lambda: torch.max(HALVES, dim=1).values,
        lambda: torch.max(HALVES, dim=1).indices,
        lambda: HALVES > 0,
        lambda: torch.where(HALVES > 0, HALVES, torch.ones(())),
        lambda: F.batch_norm(HALVES, torch.zeros(3), torch.ones(3)),
        lambda: torch.nonzero(torch.add(HALVES, torch.ones(3))),
        lambda: torch.rand_like(HALVES),
    ],
)
def test_results_have_the_dtypes_they_would_have(cast: Any, level: str, function: Any) -> None:
    expected = function().dtype
    with cast(level=level):
        assert function().dtype == expected


@LEVELS
def test_gradients_have_the_programs_dtypes_and_the_others_precision(cast: Any, level: str) -> None:
    torch.manual_seed(0)
    layer = torch.nn.Linear(32, 8).half()
    x = torch.randn(4, 5, 32, dtype=torch.float16, requires_grad=True)
    with cast(level=level):
        layer(x).pow(2).sum().backward()
    wide = torch.nn.Linear(32, 8)
    wide.load_state_dict(layer.state_dict())
    exact = x.detach().float().requires_grad_()
    wide(exact).pow(2).sum().backward()
    pairs = [(x, exact), (layer.weight, wide.weight), (layer.bias, wide.bias)]
    for one, other in pairs:
        assert one.grad is not None and other.grad is not None
        assert one.grad.dtype == torch.float16
        assert torch.allclose(one.grad.float(), other.grad, rtol=2e-2, atol=2e-2)


@LEVELS
def test_optimizers_train_in_the_other_dtype(cast: Any, level: str) -> None:
    weight = torch.nn.Parameter(torch.zeros(3, dtype=torch.bfloat16))
    optimizer = torch.optim.SGD([weight], lr=0.5)
    with cast(level=level):
        for _ in range(2):
            optimizer.zero_grad()
            (weight - 1).pow(2).sum().backward()
            optimizer.step()
    assert weight.tolist() == [1, 1, 1] and weight.is_leaf


@pytest.mark.parametrize("reentrant", [False, True])
def test_checkpointed_parts_compute_in_the_same_dtype_again(cast: Any, reentrant: bool) -> None:
    x = torch.ones(3, dtype=torch.float16, requires_grad=True)
    with cast():
        checkpoint(lambda t: torch.exp(t).exp(), x, use_reentrant=reentrant).sum().backward()
    assert x.grad is not None and x.grad.dtype == torch.float16 and x.grad.isfinite().all()


def test_inference_mode(cast: Any) -> None:
    with torch.inference_mode(), cast():
        x = torch.ones(2, dtype=torch.float16)
        x.add_(1)
        assert torch.equal(torch.mul(x, x), torch.full((2,), 4.0, dtype=torch.float16))


def test_errors_leave_the_arguments(cast: Any) -> None:
    x = torch.ones(2, dtype=torch.float16)
    with cast():
        with pytest.raises(RuntimeError, match="size of tensor"):
            x.add_(torch.ones(3, dtype=torch.float16))
        x.add_(1)
    assert x.tolist() == [2, 2]


# Options


def test_variables_choose_dtypes_for_all_and_for_single_operators(
    cast: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OP_DTYPE_CAST_DICT", "torch.float32->torch.float64")
    monkeypatch.setenv("MUL_OP_DTYPE_CAST_DICT", "float32 -> bfloat16, float64->float16")
    monkeypatch.setenv("OP_DTYPE_CAST_DISABLE_LIST", r"torch\.div")
    x = torch.ones(2)
    with Dtypes() as inside, cast():
        for function in (torch.add, torch.mul, torch.div):
            assert function(x, x).dtype == torch.float32
    assert {name: dtypes[0] for name, dtypes in inside.dtypes.items()} == {
        "torch.add": torch.float64,
        "torch.mul": torch.bfloat16,
        "torch.div": torch.float32,
    }


def test_an_argument_wins_over_the_variables(cast: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OP_DTYPE_CAST_DICT", "nonsense")
    with Dtypes() as inside, cast(dtypes={torch.float64: torch.float32}):
        torch.exp(torch.ones(1, dtype=torch.float64))
    assert inside.dtypes["torch.exp"] == (torch.float32, torch.float32)


@pytest.mark.parametrize(
    "text", ["float16", "float16->half precision", "float16->float32,half->float64", "int->pi"]
)
def test_pairs_that_are_none_are_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADD_OP_DTYPE_CAST_DICT", text)
    with pytest.raises(OptionError, match=r"ADD_OP_DTYPE_CAST_DICT='.*' is invalid"):
        OpDtypeCast(device="cpu")


def test_pairs_are_read_with_and_without_torch() -> None:
    expected = {torch.float16: torch.float32, torch.int64: torch.int32}
    assert dtype_pairs("torch.float16->torch.float32, int64 -> int32,") == expected
    assert CastOptions({"A_OP_DTYPE_CAST_DICT": " "}).of("A") == CastOptions({}).default


# Outputs


def test_casts_are_shown_and_written(cast: Any, tmp_path: Path) -> None:
    stream = io.StringIO()
    x = torch.ones(2, dtype=torch.float16)
    with cast(stream=stream) as tool:
        torch.add(x, x.bfloat16())
        torch.exp(x)
        torch.exp(x)
    rows = [("torch.exp", "torch.float16", "torch.float32", "2", "2")]
    rows += [
        ("torch.add", f"torch.{d}", "torch.float32", "1", "1") for d in ("float16", "bfloat16")
    ]
    assert tool.results.rows() == rows
    (path,) = tmp_path.glob("op_dtype_cast_info_pid*.csv")
    with path.open(newline="", encoding="utf-8") as file:
        head, *lines = csv.reader(file)
    assert head == ["name", "from", "to", "calls", "tensors"]
    assert list(map(tuple, lines)) == rows
    assert "torch.exp" in stream.getvalue() and str(path) in stream.getvalue()


def test_nothing_cast_writes_nothing(cast: Any, tmp_path: Path) -> None:
    stream = io.StringIO()
    with cast(stream=stream):
        torch.exp(torch.ones(1))
    assert "nothing was cast" in stream.getvalue() and not list(tmp_path.iterdir())


def test_apply_feature_casts_single_functions(tmp_path: Path) -> None:
    x = torch.ones(2, dtype=torch.float16)
    options: Any = {"device": "cpu", "directory": tmp_path, "stream": io.StringIO()}
    with Dtypes() as inside, apply_feature("torch.exp", "cast_dtype", **options):
        assert torch.exp(x).dtype == torch.float16
        torch.sin(x)
    assert inside.dtypes["torch.exp"][0] == torch.float32
    assert inside.dtypes["torch.sin"][0] == torch.float16


@pytest.mark.parametrize("pair", ["float32->int32", "int64->float32", "complex64->float32"])
def test_casts_to_another_kind_of_number_are_refused(pair: str) -> None:
    with pytest.raises(ValueError, match="changes the kind of number"):
        dtype_pairs(pair)
