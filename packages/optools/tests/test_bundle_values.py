"""Arguments as JSON and back."""

from __future__ import annotations

import contextlib
import json
import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from dl_optools.bundle.errors import BundleError, NotStorableError
from dl_optools.bundle.values import (
    DeviceRef,
    GeneratorRef,
    Named,
    Table,
    TensorRef,
    decode,
    encode,
    substitute,
)

PLAIN = [
    None,
    True,
    False,
    0,
    -7,
    2**64 - 1,
    1.5,
    -0.0,
    1e-320,
    "same",
    "",
    "\u00fc\n",
    math.inf,
    -math.inf,
    complex(1, -2),
    complex(math.inf, -0.0),
    [],
    (),
    (1,),
    [1, (2, [3.0])],
    {"a": 1, 2: (3,)},
    slice(None, 3, -1),
    ...,
    (..., slice(None), None, 3),
    torch.Size([2, 0]),
    torch.float32,
    torch.bfloat16,
    torch.strided,
    torch.sparse_coo,
    torch.channels_last,
    torch.preserve_format,
    torch.per_tensor_affine,
]


def there_and_back(value: object, table: Table | None = None) -> object:
    table = table or Table()
    text = json.dumps(encode(value, table), allow_nan=False)
    return decode(json.loads(text), len(table.tensors), "args")


@pytest.mark.parametrize("value", PLAIN, ids=repr)
def test_arguments_come_back_as_they_were(value: object) -> None:
    back = there_and_back(value)
    assert back == value
    assert type(back) is type(value)
    assert repr(back) == repr(value)


def test_nan_comes_back() -> None:
    back = there_and_back([math.nan, complex(math.nan, 1)])
    assert isinstance(back, list)
    assert math.isnan(back[0])
    assert math.isnan(back[1].real)
    assert back[1].imag == 1


def test_numpy_scalars_become_python_numbers() -> None:
    assert there_and_back((np.float32(0.5), np.int64(3), np.bool_(True))) == (0.5, 3, True)


def test_tensors_are_numbered_once_and_devices_stay_names() -> None:
    one, two = torch.ones(1), torch.zeros(1)
    table = Table()
    back = there_and_back(((one, [two, one]), torch.device("cpu"), slice(two, None)), table)
    assert back == (
        (TensorRef(0), [TensorRef(1), TensorRef(0)]),
        DeviceRef("cpu"),
        slice(TensorRef(1), None),
    )
    assert table.own == [one, two]


def test_generators_keep_seed_and_state() -> None:
    table = Table()
    back = there_and_back({"generator": torch.Generator().manual_seed(11)}, table)
    assert back == {"generator": GeneratorRef(DeviceRef("cpu"), 11, 0)}
    assert table.own == []
    assert table.tensors[0].equal(torch.Generator().manual_seed(11).get_state())


def test_named_results_keep_their_name() -> None:
    back = there_and_back(torch.ones(2, 2).max(0))
    assert back == Named("torch.return_types.max", (TensorRef(0), TensorRef(1)))


def test_values_that_cannot_be_stored_are_refused() -> None:
    nested: list[object] = []
    for _ in range(40):
        nested = [nested]
    for value in (lambda: 0, object(), {1, 2}, b"bytes", np.zeros(3), nested, 1 << 200):
        with pytest.raises(NotStorableError):
            encode(value, Table())


@pytest.mark.parametrize(
    "value",
    [
        {"tensor": 3},
        {"tensor": -1},
        {"tensor": True},
        {"tensor": "0"},
        {"dtype": "os"},
        {"dtype": "float32.__class__"},
        {"dtype": "strided"},
        {"layout": "float32"},
        {"memory_format": "nothing"},
        {"device": "dl:0; rm"},
        {"device": 0},
        {"slice": [1, 2]},
        {"ellipsis": False},
        {"float": "1.0"},
        {"complex": [1.0]},
        {"complex": ["a", "b"]},
        {"complex": [1, 2]},
        {"dict": [[1]]},
        {"dict": [[[1], 2]]},
        {"dict": [[{"tuple": []}, 2]]},
        {"size": [-1]},
        {"size": 3},
        {"named": ["x"]},
        {"named": [3, []]},
        {"generator": {"device": "cpu", "seed": 1}},
        {"generator": {"device": "cpu", "seed": 1, "state": 7}},
        {"pickle": "gASVKAAA"},
        {"tuple": [], "dict": []},
        {},
        1 << 200,
    ],
    ids=repr,
)
def test_values_that_no_capture_writes_are_refused(value: object) -> None:
    with pytest.raises(BundleError, match="args"):
        decode(value, 3, "args")


def test_values_nest_only_so_deep() -> None:
    value: object = 1
    for _ in range(100):
        value = [value]
    with pytest.raises(BundleError, match="deeper"):
        decode(value, 0, "args")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["tensor", "tuple", "dict", "slice", "size", "dtype", "generator"]),
            inner,
            max_size=2,
        )
    ),
    max_leaves=12,
)


@given(json_values)
def test_any_json_is_decoded_or_refused(value: object) -> None:
    with contextlib.suppress(BundleError):
        decode(value, 2, "args")


def test_substitute_reaches_every_leaf() -> None:
    tree = ([1, (2, {"a": 3})], slice(4, None), Named("x", (5,)))
    back = substitute(tree, lambda x: x if x is None else x * 10)
    assert back == ([10, (20, {"a": 30})], slice(40, None), (50,))
