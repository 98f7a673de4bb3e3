"""The verdict of the main job accepts correct runs, and names each kind of wrong run."""

from __future__ import annotations

from typing import Any

import pytest

from tools.train_job.cases import Case
from tools.train_job.compare import WARM_UP, distance, evaluate, failures, median_step
from tools.train_job.operators import Share
from tools.train_job.runner import Curve, Measurement
from tools.train_job.step_times import Comparison

FALLING = [3.0 - 0.1 * step for step in range(20)]
CALLS = {"native": {"add.Tensor": {"count": 3, "nanoseconds": 10}}, "fallback": {}}


def curve(losses: list[float], accuracy: float = 0.99) -> Curve:
    return Curve(losses, [1.0] * len(losses), accuracy, 0, 0)


def verdict(
    dl: Curve,
    *,
    rounded: tuple[Curve, ...] = (),
    quick: bool = False,
    operators: dict[str, Any] = CALLS,
) -> list[str]:
    case = Case("cnn", "float32", ())
    measurement = Measurement(case, dl, curve(FALLING), rounded or (curve(FALLING),), operators)
    return list(failures(evaluate(measurement), quick=quick))


def test_equal_curves_pass() -> None:
    assert verdict(curve(FALLING)) == []


def test_wrong_loss_in_the_first_steps_fails() -> None:
    off = [loss * 1.001 for loss in FALLING]
    (text,) = verdict(curve(off))
    assert text.startswith("cnn-float32: at step 0 the loss on dl is 1.0e-03 from the CPU's")


def test_a_distance_that_roundings_reach_on_the_cpu_is_allowed_from_that_step_on() -> None:
    def leaving(step: int, factor: float) -> Curve:
        return curve([*FALLING[:step], *(loss * factor for loss in FALLING[step:])])

    assert verdict(leaving(4, 1.039), rounded=(curve(FALLING), leaving(4, 1.01))) == []
    (text,) = verdict(leaving(4, 1.041), rounded=(curve(FALLING), leaving(4, 1.01)))
    assert text.startswith("cnn-float32: at step 4 ") and text.endswith("allowed 4.0e-02")
    (text,) = verdict(leaving(3, 1.001), rounded=(curve(FALLING), leaving(4, 1.01)))
    assert text.startswith("cnn-float32: at step 3 ") and text.endswith("allowed 1.0e-04")


def test_lower_precision_may_differ_by_four_times_what_it_changes_on_the_cpu() -> None:
    exact = evaluate(
        Measurement(
            Case("cnn", "float32", ()), curve(FALLING), curve(FALLING), (curve(FALLING),), CALLS
        )
    )
    rounded = curve([loss * 1.02 for loss in FALLING])

    def texts(factor: float) -> list[str]:
        dl = curve([loss * factor for loss in rounded.losses])
        result = evaluate(Measurement(Case("cnn", "bfloat16", ()), dl, rounded, (rounded,), CALLS))
        return list(failures(result, quick=True, exact=exact))

    assert texts(1.07) == []
    (text,) = texts(1.09)
    assert "is 9.0e-02" in text and "allowed 7.8e-02" in text


def test_late_divergence_is_reported_but_does_not_fail() -> None:
    late = [*FALLING[:15], *(loss * 1.01 for loss in FALLING[15:])]
    assert verdict(curve(late)) == []
    assert distance(curve(late), curve(FALLING)).largest == pytest.approx(0.015)


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_loss_that_is_not_finite_fails(bad: float) -> None:
    assert "cnn-float32 on dl: a loss is not finite" in verdict(curve([*FALLING[:-1], bad]))


def test_nan_in_the_first_steps_does_not_pass_as_equal() -> None:
    texts = verdict(curve([float("nan"), *FALLING[1:]]))
    assert any("at step 0" in text for text in texts)


def test_loss_that_does_not_fall_fails() -> None:
    assert any("did not fall (3.000 to 3.000)" in text for text in verdict(curve([3.0] * 20)))


def test_low_accuracy_fails_only_in_the_whole_job() -> None:
    (text,) = verdict(curve(FALLING, accuracy=0.97))
    assert text == "cnn-float32 on dl: accuracy 97.00%, needed more than 97%"
    assert verdict(curve(FALLING, accuracy=0.5), quick=True) == []


def test_run_without_a_counted_operator_fails() -> None:
    nothing: dict[str, Any] = {"native": {}, "fallback": {}}
    assert verdict(curve(FALLING), operators=nothing) == [
        "cnn-float32: no operator call was counted on dl"
    ]


def test_curves_of_different_length_are_an_error() -> None:
    with pytest.raises(ValueError, match="shorter"):
        distance(curve(FALLING), curve(FALLING[:-1]))


def test_warm_up_steps_are_not_timed() -> None:
    seconds = [100.0] * WARM_UP + [1.0, 2.0, 3.0]
    assert median_step(Curve([1.0] * len(seconds), seconds, 0.0, 0, 0)) == 2.0


def test_two_vendors_must_train_alike() -> None:
    def problems(losses: list[float]) -> list[str]:
        share = Share(0.5, 0.5, 4)
        return Comparison("cnn", curve(losses), curve(FALLING), share).problems()

    assert problems(FALLING) == []
    assert problems([loss * 1.00001 for loss in FALLING]) == []
    (text,) = problems([loss * 1.001 for loss in FALLING])
    assert text == "cnn: the losses differ by 1.0e-03 (relative), allowed: 1.0e-04"
    level = problems([3.0] * len(FALLING))
    assert level[0] == "cnn: the loss did not fall" and len(level) == 2
    assert len(problems([float("nan"), *FALLING[1:]])) == 2


def test_a_line_states_step_times_and_native_share() -> None:
    compared = Comparison("cnn", curve(FALLING), curve(FALLING), Share(0.5, 0.5, 4))
    assert compared.line("opencl", "cpu") == (
        "train_cnn: step 1000 ms on opencl, 1000 ms on cpu, ratio 1.0; 50.0% of 4 leaf operator "
        "calls native; losses differ by 0.0e+00"
    )
