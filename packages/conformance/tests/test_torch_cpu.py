"""torch's CPU kernels at the cases of the suite, judged as a vendor's would be.

That holds the references against torch, and torch against the contract. Failures of torch are in
``torch_cpu_failures.txt``: the name of a case, and what torch does with which input. A case that is
there and passes fails the test. ``DL_TEST_SAMPLE`` is the share of cases that run, 0 to 1, always
the same ones; those of float64 without edge values and other layouts run always.
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
from dl_conformance.execute import Run
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
    # Masks of bytes, indices of 32 bits, and results that do not fit the tensor they go to.
    *("only supports boolean masks", "expected BoolTensor", "scalar types: Long", "can't be cast"),
)
"""What torch says of dtypes that it does not take."""


def known_failures() -> dict[str, str]:
    """The cause by the name of a case."""
    lines = FAILURES.read_text(encoding="utf-8").splitlines()
    pairs = (line.split("  # ", 1) for line in lines if line and not line.startswith("#"))
    return dict(pairs)  # type: ignore[arg-type]


KNOWN = known_failures()


def share() -> int:
    """One case of how many runs."""
    wanted = float(os.environ.get("DL_TEST_SAMPLE") or DEFAULT_SHARE)
    return round(1 / wanted) if wanted > 0.01 else 100


def tensor(elements: np.ndarray, layout: str | Strided) -> Any:
    """A tensor of torch's in a layout of the suite."""
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


def given(value: Any) -> Any:
    """An argument of a case for torch."""
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], np.ndarray):
        return tensor(*value)
    return [given(x) for x in value] if isinstance(value, list) else value


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


def arguments(work: Run, want: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments by parameter; of each output its dtype, and its shape."""
    found = {name: given(value) for name, value in work.inputs.items()}
    for name, value in want.items():
        if name in work.case.dtypes:
            found[f"{name}.dtype"] = dtype_of(work.case.dtypes[name])
        found[f"{name}.shape"] = (
            np.shape(getattr(value, "value", value)) if not isinstance(value, list) else None
        )
    return found


def fault_of(name: str, case: Case) -> str | None:
    """What is wrong with what torch gives; None where torch has no such dtype."""
    work = Run(None, case)  # type: ignore[arg-type]
    work.make_inputs()
    want = work.want()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = CALLS[name](arguments(work, want))
    except (RuntimeError, TypeError, ValueError, IndexError, NotImplementedError) as error:
        said = str(error).partition("\n")[0]
        return None if any(x in said for x in DECLINED) else f"raises {said}"
    if not isinstance(found, dict):
        found = {load()[name].outputs[0].name: found}
    if "-mixed-into " in case.name:
        found = {key: value.to(dtype_of(case.dtypes[key])) for key, value in found.items()}
    faults, _ = work.judged({key: stored(value) for key, value in found.items()}, want)
    return "; ".join(faults)


def runs(case: Case, parts: int) -> bool:
    if case.refusal or case.models or any(re.match(x, case.name) for x in LEFT_OUT):
        return False
    plain = case.dtype == "float64" and not case.edge and case.layout == "contiguous"
    return plain or in_sample(case.name, parts, 1)


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    """The order of sums does not depend on the machine."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def wrong_cases(name: str, parts: int) -> list[str]:
    """The cases of an operator that are not as the list has them."""
    wrong = []
    for case in cases_of(name):
        if not runs(case, parts):
            continue
        fault = fault_of(name, case)
        if case.name in KNOWN and fault == "":
            wrong.append(f"{case.name} is in {FAILURES.name} and passes: take it out")
        if fault and case.name not in KNOWN:
            wrong.append(f"{case.name}: {fault}")
    return wrong


@pytest.mark.parametrize("name", sorted(CALLS))
def test_torch_gives_what_the_reference_gives(name: str) -> None:
    wrong = wrong_cases(name, share())
    assert not wrong, "\n".join(wrong)


def test_wrong_answers_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    right = CALLS["diopiExp"]
    monkeypatch.setitem(CALLS, "diopiExp", lambda a: right(a) * 1.01)
    monkeypatch.setitem(CALLS, "diopiFloor", lambda a: torch.floor(a["input"]) + 0.0)
    monkeypatch.setitem(CALLS, "diopiAddInp", lambda a: {"input": a["input"]})
    for name in ("diopiExp", "diopiFloor", "diopiAddInp"):
        assert any(f"{name}[float32" in x for x in wrong_cases(name, 1)), name


def test_what_is_on_the_list_and_passes_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    name = next(x.name for x in cases_of("diopiExp") if x.dtype == "float32")
    monkeypatch.setitem(KNOWN, name, "is right")
    assert wrong_cases("diopiExp", 1) == [f"{name} is in {FAILURES.name} and passes: take it out"]


def test_most_operators_are_compared() -> None:
    assert len([name for name in CALLS if cases_of(name)]) >= 200
    assert all(name in load() for name in CALLS)


def test_the_list_names_cases_and_causes() -> None:
    names = {case.name for operator in CALLS for case in cases_of(operator)}
    assert KNOWN.keys() <= names
    assert all(cause for cause in KNOWN.values())
