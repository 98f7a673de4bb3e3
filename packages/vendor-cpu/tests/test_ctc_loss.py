"""Tests of connectionist temporal classification (CTC)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from suite import check_cases
from support import out_like


@pytest.mark.parametrize("name", ["CTCLoss", "CTCLossBackward"])
def test_cases_of_the_suite(vendor: Vendor, name: str) -> None:
    check_cases(vendor, f"diopi{name}")


def loss(
    vendor: Vendor,
    shape: tuple[int, int, int],
    labels: Any,
    steps: list[int],
    lengths: list[int],
    **others: Any,
) -> tuple[Any, ...]:
    """Return the loss, the losses and the saved results for log probabilities that are all log(1 /
    C)."""
    rows, samples, classes = shape
    states = others.pop("states", 2 * max(lengths, default=0) + 1)
    out = out_like(vendor, (), "float64")
    kept = (
        out_like(vendor, (samples,), "float64"),
        out_like(vendor, (samples, rows, states), "float64"),
    )
    settings = dict(blank=0, reduction="sum", zero_infinity=False) | others
    given = (np.array(x, np.int64) for x in (labels, steps, lengths))
    vendor.op.CTCLoss(
        out,
        *kept,
        vendor.tensor(np.full(shape, -np.log(classes))),
        *(vendor.tensor(x) for x in given),
        *settings.values(),
    )
    return out.numpy(), *(x.numpy() for x in kept)


def test_the_number_of_paths(vendor: Vendor) -> None:
    """binomial(T + 1, 2) paths of T steps lead to a label: one for each pair of first and last
    step."""
    steps, classes = 20, 4
    out, losses, alpha = loss(vendor, (steps, 2, classes), [[1], [3]], [steps, 7], [1, 1])
    want = [t * np.log(classes) - np.log(t * (t + 1) / 2) for t in (steps, 7)]
    assert np.allclose(losses, want, 1e-13)
    assert np.allclose(out, sum(want), 1e-13)
    assert np.all(alpha[1, 7:] == -np.inf)


def test_long_inputs_do_not_underflow(vendor: Vendor) -> None:
    out, _, _ = loss(vendor, (3000, 1, 5), [[1, 2, 3]], [3000], [3])
    assert 4000 < out < 3000 * np.log(5)


def test_what_lies_behind_the_lengths_is_not_read(vendor: Vendor) -> None:
    first, _, _ = loss(vendor, (6, 2, 4), [[1, 2, 3], [2, 99, -99]], [6, 4], [3, 1])
    second, _, _ = loss(vendor, (6, 2, 4), [1, 2, 3, 2, 99], [6, 4], [3, 1], states=11)
    assert first == second


def test_bad_arguments_are_reported(vendor: Vendor) -> None:
    shape = (5, 2, 4)
    wrong = (
        ("length 6 of sequence 1 is not between 0 and 5", ([[1], [2]], [5, 6], [1, 1]), {}),
        ("length -1 of sequence 0 is not between 0 and 5", ([[1], [2]], [-1, 5], [1, 1]), {}),
        ("length 2 of sequence 0 is not between 0 and 1", ([[1], [2]], [5, 5], [2, 1]), {}),
        (
            "length 2 of sequence 1 is not between",
            ([[1, 1], [2, 2]], [5, 5], [1, 2]),
            {"states": 3},
        ),
        ("target 4 at position 1 is out of range for 4 classes", ([[1], [4]], [5, 5], [1, 1]), {}),
        ("target -1 at position 0 is out of range", ([-1, 2], [5, 5], [1, 1]), {}),
        ("sequence 1 ends at 3; there are 2 targets", ([1, 2], [5, 5], [1, 2]), {}),
        ("blank is 4; there are 4 classes", ([[1], [2]], [5, 5], [1, 1]), {"blank": 4}),
        ("log_alpha has 4 states", ([[1], [2]], [5, 5], [1, 1]), {"states": 4}),
        ("need 2 elements", ([[1], [2]], [5], [1, 1]), {}),
        ("a row for each of 2 samples", ([[1]], [5, 5], [1, 1]), {}),
    )
    for text, given, others in wrong:
        with pytest.raises(OperatorError, match=text):
            loss(vendor, shape, *given, **others)
    assert np.isfinite(loss(vendor, shape, [[1], [2]], [5, 5], [1, 1])[0])


def test_an_infinite_loss_has_no_gradient(vendor: Vendor) -> None:
    log_probs = np.full((2, 2, 3), -np.log(3), np.float32)
    kept = np.zeros((2, 2, 7), np.float32) - 2
    lengths = [vendor.tensor(np.array(x)) for x in ([2, 1], [1, 3])]
    targets = vendor.tensor(np.array([[1, 0, 0], [1, 2, 1]]))
    losses = vendor.tensor(np.array([2, np.inf], np.float32))
    for zero, want in ((True, 0.0), (False, np.nan)):
        out = out_like(vendor, (2, 2, 3), "float32")
        vendor.op.CTCLossBackward(
            out,
            vendor.tensor(np.ones(2, np.float32)),
            vendor.tensor(log_probs),
            targets,
            *lengths,
            losses,
            vendor.tensor(kept),
            0,
            "none",
            zero,
        )
        assert np.all(np.isfinite(out.numpy()[:, 0]))
        assert np.array_equal(out.numpy()[0, 1], np.full(3, want), equal_nan=True)
        assert not out.numpy()[1, 1].any()
