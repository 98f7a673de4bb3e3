from __future__ import annotations

import collections
from typing import Any

import pytest
import torch

from dl_optools.tensors import find_written, map_leaves, runs_on, tensors_of, versions

Pair = collections.namedtuple("Pair", ["one", "other"])
A, B, C = torch.ones(1), torch.ones(2), torch.ones(3)


@pytest.mark.parametrize(
    ("tree", "expected"),
    [
        (A, [A]),
        ((A, [B, {"x": C}]), [A, B, C]),
        (Pair(A, (B, None, "text", 3)), [A, B]),
        ({"a": A, "b": {"c": B}}, [A, B]),
        (frozenset({A}), [A]),
        (collections.OrderedDict(x=A, y=[B]), [A, B]),
        ((A, A), [A, A]),
        (torch.Size([2]), []),
        (None, []),
    ],
)
def test_all_tensors_are_found_in_order(tree: Any, expected: list[torch.Tensor]) -> None:
    found = tensors_of(tree)
    assert len(found) == len(expected)
    assert all(one is other for one, other in zip(found, expected, strict=True))


def test_tensors_of_torchs_own_return_types_are_found() -> None:
    values, indices = tensors_of(torch.ones(2, 3).max(dim=1))
    assert values.dtype == torch.float32 and indices.dtype == torch.int64


def test_structures_keep_their_types() -> None:
    tree = {"pair": Pair(1, [2]), "set": {3}, "frozen": frozenset({(4, 5)})}
    found = map_leaves(lambda x: x * 10, tree)
    assert found == {"pair": Pair(10, [20]), "set": {30}, "frozen": frozenset({(40, 50)})}
    assert isinstance(found["pair"], Pair) and isinstance(found["frozen"], frozenset)
    extremes = map_leaves(lambda x: x, torch.ones(2, 3).max(dim=1))
    assert isinstance(extremes, torch.return_types.max)


@pytest.mark.parametrize(
    ("device", "args", "kwargs", "expected"),
    [
        ("meta", (torch.ones(1, device="meta"),), {}, True),
        ("meta", (A,), {"other": torch.ones(1, device="meta")}, True),
        ("meta", ([A, torch.ones(1, device="meta")],), {}, True),
        ("meta", (), {"tensors": {"x": [torch.ones(1, device="meta")]}}, True),
        ("meta", (torch.device("meta"),), {}, True),
        ("meta", (2,), {"device": torch.device("meta", 0)}, True),
        ("meta", (2,), {"device": "meta:0"}, True),
        ("meta", ("meta", A), {"equation": "meta"}, False),
        ("meta", (A, 3, None), {"device": None}, False),
        ("meta", ({torch.ones(1, device="meta")},), {}, True),
    ],
)
def test_a_call_runs_on_the_device_of_any_argument(
    device: str, args: Any, kwargs: Any, expected: bool
) -> None:
    assert runs_on(device, args, kwargs) is expected


def test_written_tensors_are_found() -> None:
    x, y, view = torch.ones(3), torch.ones(3), torch.ones(3)
    part = view[:2]
    with torch.inference_mode():
        uncounted = torch.ones(1)
    given = [x, y, view, uncounted]
    before = versions(given)
    x.add_(1)
    part.mul_(2)
    assert [one is other for one, other in zip(find_written(given, before), [x, view], strict=True)]
    assert len(find_written(given, before)) == 2
