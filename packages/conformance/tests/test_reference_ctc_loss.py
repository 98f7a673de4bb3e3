"""References of CTC loss match torch, and a sum over all paths."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from dl_conformance.catalog import cases_of
from dl_conformance.execution import CaseInputs
from dl_conformance.inputs import uniform
from dl_conformance.reference import as_expected, compute

OUTPUTS = {"out", "neg_log_likelihood", "log_alpha"}


def cases(operator: str) -> list[Any]:
    return [x for x in cases_of(operator) if x.dtype == "float64" and x.layout == "contiguous"]


def close(got: Any, want: Any, name: str) -> None:
    value = np.asarray(want, np.float64)
    np.testing.assert_allclose(got.numpy(), value, rtol=1e-12, atol=1e-13, err_msg=name)


def test_loss_is_that_of_torch() -> None:
    torch = pytest.importorskip("torch")
    for case in cases("diopiCTCLoss"):
        inputs = CaseInputs(case)
        given = {k: torch.as_tensor(np.asarray(inputs.wide[k], np.float64)) for k in ("log_probs",)}
        lengths = [torch.as_tensor(inputs.wide[f"{x}_lengths"]).long() for x in ("input", "target")]
        targets = torch.as_tensor(inputs.wide["targets"]).long()
        want = {k: as_expected(v).value for k, v in inputs.expected().items()}
        if targets.ndim == 1:
            targets = targets[: int(lengths[1].sum())]
        if not lengths[0].numel():
            continue  # torch needs at least one sample
        settings = [case.arguments[k] for k in ("blank", "reduction", "zero_infinity")]
        found = torch.nn.functional.ctc_loss(given["log_probs"], targets, *lengths, *settings)
        close(found, want["out"], case.name)
        losses, alpha = torch._C._VariableFunctions._ctc_loss(
            given["log_probs"], targets, *(x.tolist() for x in lengths), settings[0], False
        )
        close(losses, want["neg_log_likelihood"], case.name)
        for n, (steps, labels) in enumerate(zip(*(x.tolist() for x in lengths), strict=True)):
            if steps:  # the rest of torch's log_alpha is undefined
                states = 2 * labels + 1
                close(alpha[n, :steps, :states], want["log_alpha"][n, :steps, :states], case.name)
            assert np.all(want["log_alpha"][n, steps:] == -np.inf)
            assert np.all(want["log_alpha"][n, :, 2 * labels + 1 :] == -np.inf)


def test_gradient_is_that_of_torch() -> None:
    torch = pytest.importorskip("torch")
    for case in cases("diopiCTCLossBackward"):
        inputs = CaseInputs(case)
        lengths = [torch.as_tensor(inputs.wide[f"{x}_lengths"]).long() for x in ("input", "target")]
        if not lengths[0].numel():
            continue
        targets = torch.as_tensor(inputs.wide["targets"]).long()
        log_probs = torch.as_tensor(
            np.asarray(inputs.wide["log_probs"], np.float64)
        ).requires_grad_()
        settings = [case.arguments[k] for k in ("blank", "reduction", "zero_infinity")]
        loss = torch.nn.functional.ctc_loss(log_probs, targets, *lengths, *settings)
        loss.backward(torch.as_tensor(np.asarray(inputs.wide["grad_output"], np.float64)))
        close(log_probs.grad, as_expected(inputs.expected()["grad_input"]).value, case.name)


@pytest.mark.parametrize("labels", [[], [1], [1, 2], [1, 1], [2, 1, 2]])
def test_loss_is_the_sum_over_all_paths(labels: list[int]) -> None:
    steps, classes = 5, 3
    log_probs = uniform("paths", steps * classes, -3, 0).reshape(steps, 1, classes)
    total = np.longdouble(0)
    for path in itertools.product(range(classes), repeat=steps):
        merged = [label for label, _ in itertools.groupby(path)]
        if [label for label in merged if label != 0] == labels:
            total += np.exp(np.longdouble(log_probs[range(steps), 0, list(path)].sum()))
    found = compute(
        "diopiCTCLoss",
        dict(
            log_probs=log_probs.astype(np.longdouble),
            targets=np.array([labels], np.int64).reshape(1, -1),
            input_lengths=np.array([steps]),
            target_lengths=np.array([len(labels)]),
            blank=0,
            reduction="sum",
            zero_infinity=False,
        ),
        OUTPUTS,
    )
    assert abs(as_expected(found["out"]).value + np.log(total)) < 1e-14


def test_gradient_through_log_softmax_is_the_slope() -> None:
    """The gradient of log_probs is the derivative only for results of log_softmax."""
    shape, step = (6, 2, 4), np.longdouble(2) ** -24
    given = dict(
        targets=np.array([[1, 2, 2], [3, 1, 0]]),
        input_lengths=np.array([6, 4]),
        target_lengths=np.array([3, 2]),
        blank=0,
        reduction="mean",
        zero_infinity=False,
    )
    logits = uniform("logits", 48, -2, 2).reshape(shape).astype(np.longdouble)

    def normalized(x: Any) -> Any:
        return x - np.log(np.exp(x).sum(axis=2, keepdims=True))

    def forward(x: Any) -> dict[str, Any]:
        found = compute("diopiCTCLoss", given | dict(log_probs=normalized(x)), OUTPUTS)
        return {k: np.asarray(as_expected(v).value) for k, v in found.items()}

    results = forward(logits)
    call = given | {k: results[k] for k in ("neg_log_likelihood", "log_alpha")}
    call |= dict(log_probs=normalized(logits), grad_output=np.asarray(np.longdouble(0.75)))
    grad = as_expected(compute("diopiCTCLossBackward", call, {"grad_input"})["grad_input"]).value
    grad = np.asarray(grad)
    found = grad - np.exp(normalized(logits)) * grad.sum(axis=2, keepdims=True)
    for at in np.ndindex(shape):
        moved = [logits.copy(), logits.copy()]
        moved[0][at] += step
        moved[1][at] -= step
        slope = 0.75 * (forward(moved[0])["out"] - forward(moved[1])["out"]) / (2 * step)
        assert abs(found[at] - slope) < 1e-9
