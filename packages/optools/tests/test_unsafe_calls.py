"""Refusal of unsafe calls in untrusted bundles."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
import torch

from dl_optools.bundle.unsafe_calls import HARMLESS_FLAGS, UNSAFE_FLAGS, find_risk
from dl_optools.names import Level
from dl_optools.operators import is_known, operator


def schemas() -> Iterator[Any]:
    """Return the schemas of all overloads that the dispatcher knows."""
    known = set(torch._C._dispatch_get_all_op_names())
    for schema in torch._C._jit_get_all_schemas():
        if ".".join(filter(None, [schema.name, schema.overload_name])) in known:
            yield schema


def name_of(schema: Any) -> str:
    return f"{schema.name.replace('::', '.')}.{schema.overload_name or 'default'}"


def refusal(name: str, *args: Any, **kwargs: Any) -> str:
    level = Level.API if name.startswith("torch.") else Level.DISPATCH
    return find_risk(operator(name, level), name, args, kwargs)


@pytest.mark.parametrize(
    ("name", "args", "kwargs", "reason"),
    [
        ("aten.segment_reduce.default", (0, "sum"), {"unsafe": True}, "unsafe=True"),
        ("aten._index_put_impl_.default", (0, [], 0, False, True), {}, "unsafe=True"),
        (
            "aten.sparse_coo_tensor.indices_size",
            (0, 0, [4]),
            {"check_invariants": False},
            "check_invariants=False",
        ),
        ("aten._sparse_coo_tensor_unsafe.default", (), {}, "bypasses torch's checks"),
        ("aten._sparse_compressed_tensor_unsafe.default", (), {}, "bypasses torch's checks"),
        ("mkldnn.data_ptr.default", (), {}, "bypasses torch's checks"),
        ("aten.set_.source_Storage_storage_offset", (), {}, "type Storage, which is not data"),
        ("aten.record_stream.default", (), {}, "type Stream, which is not data"),
        ("aten._test_string_default.default", (), {}, "a text 'a', which may name a file or code"),
    ],
)
def test_calls_without_checks_are_refused(
    name: str, args: tuple[Any, ...], kwargs: dict[str, Any], reason: str
) -> None:
    assert reason in refusal(name, *args, **kwargs)


@pytest.mark.parametrize(
    ("name", "args", "kwargs"),
    [
        ("aten.segment_reduce.default", (0, "sum"), {"unsafe": False}),
        ("aten.segment_reduce.default", (0, "sum"), {}),
        ("aten._index_put_impl_.default", (0, [], 0, True), {}),
        ("aten.sparse_coo_tensor.indices_size", (0, 0, [4]), {"check_invariants": None}),
        ("aten._unsafe_view.default", (0, [4]), {}),
        ("aten.set_.source_Tensor", (0, 0), {}),
        ("aten.div.Tensor_mode", (0, 0), {"rounding_mode": "floor"}),
        ("torch.functional.einsum", ("ij,jk->ik", [0, 0]), {}),
        ("torch.nn.functional.interpolate", (0, 2), {"mode": "nearest"}),
        ("torch.Tensor.sort", (0,), {}),
        ("torch.linalg.inv_ex", (0,), {"check_errors": False}),
    ],
)
def test_calls_with_checks_are_not(
    name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    assert refusal(name, *args, **kwargs) == ""


def test_every_flag_about_checks_is_judged() -> None:
    """A later version of torch may add flags."""
    about = re.compile(r"(^|_)(un)?(safe|check|checks|checked|valid|validate|trust|trusted)(_|$)")
    names = {
        argument.name
        for schema in schemas()
        for argument in schema.arguments
        if str(argument.type) in ("bool", "Optional[bool]") and about.search(argument.name)
    }
    assert names <= {*UNSAFE_FLAGS, *HARMLESS_FLAGS}
    assert "unsafe" in names


def test_operators_that_autograd_calls_unsafe_check_their_arguments() -> None:
    """These operators are memory-safe, so that names with this prefix are not refused."""
    x, far, value = torch.ones(4), torch.tensor([1 << 40]), torch.ones(1)
    mask = torch.ones(1, dtype=torch.bool)
    raising: dict[str, tuple[Any, ...]] = {
        "aten._unsafe_view.default": (x, [1 << 40]),
        "aten._unsafe_index.Tensor": (x, [far]),
        "aten._unsafe_index_put.default": (x, [far], value),
        "aten.unsafe_split.Tensor": (x, -1),
        "aten.unsafe_split_with_sizes.default": (x, [1 << 40, 3]),
        "aten.unsafe_chunk.default": (x, -1),
    }
    # These operators clamp indices to the range of the tensor.
    clamping: dict[str, tuple[Any, ...]] = {
        "aten._unsafe_masked_index.default": (x, mask, [far], 0),
        "aten._unsafe_masked_index_put_accumulate.default": (x, mask, [far], value),
    }
    begun = {name_of(x) for x in schemas() if re.match(r"aten::_?unsafe_", x.name)}
    assert {x for x in begun if not x.endswith((".out", "_out"))} == {*raising, *clamping}
    for name, args in raising.items():
        with pytest.raises((RuntimeError, IndexError)):
            operator(name, Level.DISPATCH)(*args)
    for name, args in clamping.items():
        assert operator(name, Level.DISPATCH)(*args).shape[0] in (1, 4)


def test_most_operators_are_allowed() -> None:
    """The rule excludes unsafe features, which ordinary operators do not use."""
    names = sorted(name_of(x) for x in schemas() if x.name.startswith("aten::"))[::20]
    assert len(names) > 100
    refused = [x for x in names if is_known(x, Level.DISPATCH) and refusal(x)]
    assert len(refused) < len(names) / 50
