"""Attention of packed sequences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from diopi_proto import Generator, OperatorError, Tensor, Vendor
from peers import attention
from suite import check_cases
from support import Array, numbers, out_like

OPERATORS = (
    "MultiHeadAttentionVarLen",
    "FlashAttentionVarLen",
    "CustomizedFlashAttentionVarLen",
)


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("end", ["", "Backward"])
def test_cases_of_the_suite(vendor: Vendor, name: str, end: str) -> None:
    check_cases(vendor, f"diopi{name}{end}")


LENGTHS = [(70, 3), (0, 5), (65, 140), (9, 0), (1, 90)]
"""Numbers of queries and keys."""


def ends_of(side: int) -> list[int]:
    return [0, *np.cumsum([x[side] for x in LENGTHS]).tolist()]


@pytest.fixture
def arrays() -> list[Array]:
    """Queries, keys, values and gradients of the output."""
    rows = [ends_of(0)[-1], ends_of(1)[-1], ends_of(1)[-1], ends_of(0)[-1]]
    heads = [4, 2, 2, 4]
    shapes = [(n, h, 8) for n, h in zip(rows, heads, strict=True)]
    return [numbers(shape, "float32", 60 + i).astype(np.float32) for i, shape in enumerate(shapes)]


def test_each_sequence_is_as_if_alone(vendor: Vendor, arrays: list[Array]) -> None:
    """Bitwise: the results of a sequence do not depend on others."""
    ends = [vendor.tensor(np.array(ends_of(side), np.int32)) for side in (0, 1)]
    q, k, v, grad = map(vendor.tensor, arrays)
    out, lse = (
        out_like(vendor, q.shape, "float32"),
        out_like(vendor, (4, len(arrays[0])), "float32"),
    )
    grads = [out_like(vendor, x.shape, "float32") for x in (q, k, v)]
    options = (70, 140, 0.0, 0.3, True, 40, -1)
    vendor.op.FlashAttentionVarLen(out, lse, None, q, k, v, *ends, None, *options)
    vendor.op.FlashAttentionVarLenBackward(
        *grads, grad, None, q, k, v, *ends, None, out, lse, *options
    )
    for n, (queries, keys) in enumerate(LENGTHS):
        parts = [slice(ends_of(side)[n], ends_of(side)[n + 1]) for side in (0, 1)]
        sides = (parts[0], parts[1], parts[1], parts[0])
        a, b, c, g = (
            vendor.tensor(np.ascontiguousarray(x[part][None]))
            for x, part in zip(arrays, sides, strict=True)
        )
        alone, logs, back = attention(vendor, [a, b, c], g, options[2:])
        assert np.array_equal(out.numpy()[parts[0]], alone[0]), (queries, keys)
        assert np.array_equal(lse.numpy()[:, parts[0]], logs[0])
        for got, want, part in zip(grads, back, sides, strict=False):
            assert np.array_equal(got.numpy()[part], want[0])


def test_dropout_is_the_same_in_all_operators(vendor: Vendor, arrays: list[Array]) -> None:
    q, k, v, grad = map(vendor.tensor, arrays)
    sides = [ends_of(0), ends_of(1)]
    ends = [vendor.tensor(np.array(x, np.int32)) for x in sides]
    hosts = [x[1:] for x in sides]
    steps = 5 * 4 * 72 * 141 // 4
    found = []
    for name in OPERATORS:
        out = out_like(vendor, q.shape, "float32")
        grads = [out_like(vendor, x.shape, "float32") for x in (q, k, v)]
        gens = Generator(seed=5, offset=7), Generator(seed=5, offset=7)
        if name == "MultiHeadAttentionVarLen":
            lse = out_like(vendor, (5, 4, 72), "float32")
            vendor.op.MultiHeadAttentionVarLen(
                q, k, v, *ends, 72, 141, 0.5, True, False, 0.3, out, lse, gens[0], None
            )
            vendor.op.MultiHeadAttentionVarLenBackward(
                grad, q, k, v, out, lse, *ends, 72, 141, 0.5, True, gens[1], 0.3, *grads
            )
            assert not lse.numpy()[:, :, 70:].any() and not lse.numpy()[1].any()
        elif name == "FlashAttentionVarLen":
            lse, options = out_like(vendor, (4, len(arrays[0])), "float32"), (72, 141, 0.5, 0.3)
            window = (True, -1, -1)
            vendor.op.FlashAttentionVarLen(
                out, lse, gens[0], q, k, v, *ends, None, *options, *window
            )
            vendor.op.FlashAttentionVarLenBackward(
                *grads, grad, gens[1], q, k, v, *ends, None, out, lse, *options, *window
            )
        else:
            options = (72, 141, 0.5, 0.3, True, -1, -1)
            kept = vendor.op.CustomizedFlashAttentionVarLen(
                out, gens[0], q, k, v, *hosts, None, None, *options
            )
            vendor.op.CustomizedFlashAttentionVarLenBackward(
                *grads, grad, q, k, v, *hosts, None, out, None, *kept, *options
            )
        assert gens[0].offset == 7 + steps
        found.append([out.numpy(), *(x.numpy() for x in grads)])
    for other in found[1:]:
        for got, want in zip(other, found[0], strict=True):
            assert np.array_equal(got, want)


def test_bad_lengths_are_reported(vendor: Vendor) -> None:
    x, lse = out_like(vendor, (5, 2, 4), "float32"), out_like(vendor, (2, 5), "float32")

    def run(*ends: int, keys: Any = (0, 2, 5), longest: int = 3, p: float = 0.0) -> None:
        sides = [vendor.tensor(np.array(side, np.int32)) for side in (ends, keys)]
        options = (longest, 3, p, 0.3, False, -1, -1)
        out = out_like(vendor, (5, 2, 4), "float32")
        vendor.op.FlashAttentionVarLen(out, lse, Generator(seed=1), x, x, x, *sides, None, *options)

    run(0, 2, 5)
    for ends in ((0, 2, 4), (0, 2, 6), (0, -1, 5), (1, 2, 5), (0, 1, 5), (0, 5, 5)):
        with pytest.raises(OperatorError, match=r"cumulative length -?\d at position \d is out of"):
            run(*ends)
    with pytest.raises(OperatorError, match=r"cumulative length 5 at position 1"):
        run(0, 2, 5, keys=(0, 5, 2))
    with pytest.raises(OperatorError, match=r"lengths of keys has the shape \[2\]; it needs \[3\]"):
        run(0, 2, 5, keys=(0, 5))
    with pytest.raises(OperatorError, match="cumulative lengths are empty; they must begin with 0"):
        run(keys=())
    with pytest.raises(OperatorError, match="the longest sequences have -1 queries and 3 keys"):
        run(0, 2, 5, longest=-1)
    out = out_like(vendor, (5, 2, 4), "float32")
    options = (3, 3, 0.0, 0.3, False, -1, -1)
    with pytest.raises(OperatorError, match="there are 2 lengths of queries and 1 of keys"):
        vendor.op.CustomizedFlashAttentionVarLen(
            out, None, x, x, x, [2, 5], [5], None, None, *options
        )
    whole, stats = vendor.tensor(np.array([0, 5])), out_like(vendor, (1, 2, 5), "float32")
    grads = [out_like(vendor, (5, 2, 4), "float32") for _ in "qkv"]
    heads = (whole, whole, 5, 1 << 62, 0.5, False, Generator(seed=1), 0.3)
    with pytest.raises(OperatorError, match="too many weights: their number overflows int64"):
        vendor.op.MultiHeadAttentionVarLenBackward(x, x, x, x, x, stats, *heads, *grads)


def test_huge_largest_lengths_cost_nothing(vendor: Vendor) -> None:
    """The maximum lengths affect only the indices of dropout weights, not the amount of work."""
    x: Tensor = vendor.tensor(numbers((5, 2, 4), "float32", 70).astype(np.float32))
    ends = vendor.tensor(np.array([0, 2, 5], np.int32))
    results = []
    for longest in (3, 2**31 - 1):
        out, lse = out_like(vendor, (5, 2, 4), "float32"), out_like(vendor, (2, 5), "float32")
        options = (longest, longest, 0.0, 0.3, False, -1, -1)
        vendor.op.FlashAttentionVarLen(out, lse, None, x, x, x, ends, ends, None, *options)
        results.append(out.numpy())
    assert np.array_equal(*results)
