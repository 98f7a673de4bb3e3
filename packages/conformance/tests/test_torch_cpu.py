"""torch's CPU kernels run the cases of the suite and are compared like a vendor's operators.

This validates the references against torch, and torch against the contract. Failures of torch are
listed in ``torch_cpu_failures.txt``: the name of a case, and the cause. A listed case that passes
fails the test. ``DL_TEST_SAMPLE`` is the share of cases to run, 0 to 1, always the same ones;
contiguous float64 cases without edge values always run.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from diopi_proto.schema import load
from dl_conformance.case import Case
from dl_conformance.catalog import cases_of, in_sample
from dl_conformance.execution import CaseInputs
from dl_conformance.execution.judge import judge_results
from dl_conformance.layouts import Strided, strides_of
from dl_conformance.tensor_file import Stored

torch = pytest.importorskip("torch")

from torch_calls import LEFT_OUT, calls  # noqa: E402 - it imports torch

RELEASE = "2.13"
pytestmark = pytest.mark.skipif(
    not torch.__version__.startswith(f"{RELEASE}."), reason=f"the list is of torch {RELEASE}"
)
CALLS = calls()
FAILURES = Path(__file__).with_name("torch_cpu_failures.txt")
DEFAULT_SHARE = 0.1
DECLINED = (
    *("not implemented for", "not supported", "not yet supported", "must be floating"),
    # Byte masks, 32-bit indices, and results that cannot be cast to the dtype of the output.
    *("only supports boolean masks", "expected BoolTensor", "scalar types: Long", "can't be cast"),
)
"""Parts of torch's error messages for unsupported dtypes."""


def known_failures() -> dict[str, str]:
    """Return the cause of each known failure by name of the case."""
    lines = FAILURES.read_text(encoding="utf-8").splitlines()
    pairs = (line.split("  # ", 1) for line in lines if line and not line.startswith("#"))
    return dict(pairs)  # type: ignore[arg-type]


KNOWN = known_failures()


def share() -> int:
    """Return N if one case in N runs."""
    wanted = float(os.environ.get("DL_TEST_SAMPLE") or DEFAULT_SHARE)
    return round(1 / wanted) if wanted > 0.01 else 100


def tensor(elements: np.ndarray, layout: str | Strided) -> Any:
    """Return a torch tensor in a layout of the suite."""
    shape = elements.shape
    given = layout if isinstance(layout, Strided) else Strided(*strides_of(layout, shape))
    dense = torch.from_numpy(
        np.array(elements.view(np.int16) if is_bfloat16(elements) else elements)
    )
    if is_bfloat16(elements):
        dense = dense.view(torch.bfloat16)
    if dense.numel() == 0:
        return dense.reshape(shape)
    span = 1 + sum((n - 1) * step for n, step in zip(shape, given.strides, strict=True))
    memory = torch.zeros(given.offset + span, dtype=dense.dtype)
    placed = memory.as_strided(shape, given.strides, given.offset)
    if layout == "expanded":
        placed[:1].copy_(dense.reshape(shape)[:1])
    else:
        placed.copy_(dense.reshape(shape))
    return placed


def is_bfloat16(elements: np.ndarray) -> bool:
    return elements.dtype == np.uint16


def to_torch(value: Any) -> Any:
    """Convert an argument of a case for torch."""
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], np.ndarray):
        return tensor(*value)
    return [to_torch(x) for x in value] if isinstance(value, list) else value


def stored(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [stored(x) for x in value]
    if not isinstance(value, torch.Tensor):
        return value
    plain = value.detach().resolve_conj().resolve_neg().contiguous()
    name = str(plain.dtype).removeprefix("torch.")
    if plain.dtype == torch.complex32:
        return Stored(name, plain.view(torch.int32).numpy().view(np.uint32))
    if plain.dtype == torch.bfloat16:
        return Stored(name, plain.view(torch.int16).numpy().view(np.uint16))
    return Stored(name, plain.numpy())


def dtype_of(name: str) -> Any:
    return getattr(torch, name)


def arguments(inputs: CaseInputs, want: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments by parameter; for outputs, dtype and shape."""
    found = {name: to_torch(value) for name, value in inputs.stored.items()}
    for name, value in want.items():
        if name in inputs.case.dtypes:
            found[f"{name}.dtype"] = dtype_of(inputs.case.dtypes[name])
        found[f"{name}.shape"] = (
            np.shape(getattr(value, "value", value)) if not isinstance(value, list) else None
        )
    return found


def fault_of(name: str, case: Case) -> str | None:
    """Return the faults of torch's results, or None if torch does not support the dtype."""
    inputs = CaseInputs(case)
    want = inputs.expected()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = CALLS[name](arguments(inputs, want))
    except (RuntimeError, TypeError, ValueError, IndexError, NotImplementedError) as error:
        said = str(error).partition("\n")[0]
        return None if any(x in said for x in DECLINED) else f"raises {said}"
    if not isinstance(found, dict):
        found = {load()[name].outputs[0].name: found}
    if "-mixed-into " in case.name:
        found = {key: value.to(dtype_of(case.dtypes[key])) for key, value in found.items()}
    faults, _ = judge_results(inputs, want, {key: stored(value) for key, value in found.items()})
    return "; ".join(map(str, faults))


def runs(case: Case, parts: int) -> bool:
    if case.refusal or case.models or any(re.match(x, case.name) for x in LEFT_OUT):
        return False
    plain = case.dtype == "float64" and not case.edge and case.layout == "contiguous"
    return plain or in_sample(case.name, parts, 1)


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    """Use one thread, so that the summation order does not depend on the machine."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def wrong_cases(name: str, parts: int) -> list[str]:
    """Return the cases of an operator whose outcome differs from the list."""
    wrong = []
    for case in cases_of(name):
        if not runs(case, parts):
            continue
        fault = fault_of(name, case)
        if case.name in KNOWN and fault == "":
            wrong.append(f"{case.name} is listed in {FAILURES.name} but passes: remove it")
        if fault and case.name not in KNOWN:
            wrong.append(f"{case.name}: {fault}")
    return wrong


@pytest.mark.parametrize("name", sorted(CALLS))
def test_torch_matches_the_reference(name: str) -> None:
    wrong = wrong_cases(name, share())
    assert not wrong, "\n".join(wrong)


def test_wrong_answers_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    right = CALLS["diopiExp"]
    monkeypatch.setitem(CALLS, "diopiExp", lambda a: right(a) * 1.01)
    monkeypatch.setitem(CALLS, "diopiFloor", lambda a: torch.floor(a["input"]) + 0.0)
    monkeypatch.setitem(CALLS, "diopiAddInp", lambda a: {"input": a["input"]})
    for name in ("diopiExp", "diopiFloor", "diopiAddInp"):
        assert any(f"{name}[float32" in x for x in wrong_cases(name, 1)), name


def test_a_listed_case_that_passes_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    name = next(x.name for x in cases_of("diopiExp") if x.dtype == "float32")
    monkeypatch.setitem(KNOWN, name, "is right")
    message = f"{name} is listed in {FAILURES.name} but passes: remove it"
    assert wrong_cases("diopiExp", 1) == [message]


def test_most_operators_are_compared() -> None:
    assert len([name for name in CALLS if cases_of(name)]) >= 200
    assert all(name in load() for name in CALLS)


def test_the_list_names_cases_and_causes() -> None:
    names = {case.name for operator in CALLS for case in cases_of(operator)}
    assert KNOWN.keys() <= names
    assert all(cause for cause in KNOWN.values())
