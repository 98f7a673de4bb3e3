"""Guarded calls detect operators that write anything but the elements of their outputs."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import Generator, OperatorError, StrayWriteError, Vendor
from diopi_proto.host.frame import Frame
from diopi_proto.host.watch import Watch
from diopi_proto.schema import load

OUT, INPUT, REQUIRED = 0, 1, 2


@pytest.fixture(params=["vendor", "hidden"])
def guarded(request: pytest.FixtureRequest) -> Vendor:
    vendor: Vendor = request.getfixturevalue(request.param)
    vendor.guard_calls()
    return vendor


def stray(vendor: Vendor, place: int, where: int = OUT, *, fails: bool = False) -> None:
    """Call an operator that writes to one element of a 2 x 3 tensor with strides (5, 1)."""
    out, given = (vendor.empty((2, 3), strides=(5, 1)) for _ in range(2))
    for tensor in (out, given):
        tensor.copy_from(np.full((2, 3), 7.0))
    vendor.op.Roll(out, given, [place], [where, int(fails)])


def test_what_belongs_to_the_output_may_be_written(guarded: Vendor) -> None:
    for place in (0, 2, 5, 7):
        stray(guarded, place)


@pytest.mark.parametrize(
    ("place", "said"),
    [
        (-1, "the first of them 4 before out"),
        (-60, "before out"),
        (3, "4 bytes between the elements of out"),
        (4, "between the elements of out"),
        (8, "the first of them 0 after the end of out"),
        (70, "after the end of out"),
    ],
)
def test_bytes_beside_the_output_may_not(guarded: Vendor, place: int, said: str) -> None:
    with pytest.raises(StrayWriteError, match=rf"\[diopiRoll\] wrote .*{said}"):
        stray(guarded, place)


def test_inputs_may_not(guarded: Vendor) -> None:
    out, given = guarded.tensor(np.zeros(4, np.float32)), guarded.tensor(np.zeros(4, np.float32))
    with pytest.raises(StrayWriteError, match=r"wrote \d bytes of input"):
        guarded.op.Roll(out, given, [1], [INPUT, 0])
    with pytest.raises(StrayWriteError, match="after the end of input"):
        stray(guarded, 8, INPUT)


@pytest.mark.parametrize("place", [-1, 2])
def test_surroundings_of_required_tensors_may_not(guarded: Vendor, place: int) -> None:
    stray(guarded, 1, REQUIRED)
    with pytest.raises(StrayWriteError, match="around a tensor that it required"):
        stray(guarded, place, REQUIRED)


def test_nothing_may_be_written_before_an_error(guarded: Vendor) -> None:
    out = guarded.tensor(np.zeros(4, np.float32))
    with pytest.raises(StrayWriteError, match="bytes of out before it returned an error"):
        guarded.op.Roll(out, out, [1], [OUT, 1])
    with pytest.raises(StrayWriteError, match="moved Generator"):
        guarded.op.BernoulliInp(out, Generator(seed=3))
    with pytest.raises(OperatorError, match="no softmax"):
        guarded.op.Softmax(out, out, 0)


def test_what_lies_between_elements_is_put_back(guarded: Vendor) -> None:
    whole = guarded.tensor(np.arange(10, dtype=np.float32))
    part = whole.as_strided((2, 3), (5, 1))
    guarded.op.Fill(part, 9)
    want = np.arange(10, dtype=np.float32).reshape(2, 5)
    want[:, :3] = 9
    assert whole.numpy().tolist() == want.ravel().tolist()


def test_operators_work_as_before(guarded: Vendor) -> None:
    a = guarded.tensor(np.arange(6, dtype=np.float32).reshape(2, 3))
    guarded.op.Add(a, a, a, 1)
    assert a.numpy().tolist() == [[0, 2, 4], [6, 8, 10]]
    assert guarded.op.Nonzero(a).numpy().tolist() == [[1], [2], [3], [4], [5]]
    empty = guarded.empty((0, 3))
    guarded.op.Fill(empty, 1)


def test_without_a_guard_nothing_is_reported(vendor: Vendor) -> None:
    whole = vendor.empty((16,))
    vendor.op.Roll(whole.as_strided((2,)), whole, [9], [OUT, 0])


def test_parts_of_a_sparse_tensor_are_watched(guarded: Vendor) -> None:
    parts = [guarded.tensor(x) for x in ([0, 1, 2], [0, 1], [1.0, 2.0])]
    sparse = guarded.sparse_csr(*parts, (2, 2))

    def watch() -> Watch:
        frame = Frame(sparse.storage.instance, "diopiSpMM", None)
        frame.tensor("input", sparse, "a tensor", "csr")
        return Watch(load()["diopiSpMM"], frame)

    watch().check(True, [])
    for part in parts:
        watched = watch()
        part.copy_from(part.numpy() + 1)
        with pytest.raises(StrayWriteError, match=r"\[diopiSpMM\] wrote \d+ bytes of input"):
            watched.check(True, [])


def test_guards_can_be_suspended(guarded: Vendor) -> None:
    with guarded.unguarded():
        stray(guarded, 3)
    with pytest.raises(StrayWriteError):
        stray(guarded, 3)


def test_slots_are_called_one_by_one(guarded: Vendor) -> None:
    assert guarded.slots.has("memory_copy") and not guarded.slots.has("no_such_slot")
    guarded.slots.call("device_synchronize", 0)
    assert guarded.stream().pointer is not None
