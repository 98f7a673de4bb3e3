"""The survey of torch's stable ABI, on sources that are written here, and its prototype."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tools.stable_abi.signatures import types_in
from tools.stable_abi.survey import OPERATOR, STABLE, group_of, names_in, survey

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
PLAIN = "#pragma once\n// at::Scalar is named in this comment only.\nint add(int a, int b);\n"
SCALAR = "at::Scalar twice(const at::Scalar& value);\n"


def test_names_in_comments_do_not_count() -> None:
    assert names_in(PLAIN) == set()
    assert names_in("/* at::Tensor\n*/ c10::Device d; x.options(); y->view(); z.other();") == {
        "c10::Device",
        "Tensor::options",
        "Tensor::view",
    }


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("at::Tensor", STABLE),
        ("c10::ScalarType::Half", STABLE),
        ("at::where", OPERATOR),
        ("Tensor::view", OPERATOR),
        ("at::Scalar", "a scalar"),
        ("c10::DispatchKey::CPU", "boxed kernels"),
        ("c10d::Work", "torch.distributed"),
    ],
)
def test_names_are_grouped_by_what_the_stable_abi_has(name: str, said: str) -> None:
    assert group_of(name).startswith(said)


def test_files_are_counted_by_layer_and_by_what_they_lack(tmp_path: Path) -> None:
    files = {
        "calls/add.h": PLAIN,
        "calls/twice.cpp": SCALAR,
        "calls/queue.cpp": SCALAR + "c10d::Work* work();\n",
        "aten/composed/losses/mean.cpp": "at::Tensor m(at::Tensor x) { return at::mean(x); }\n",
        "aten/composed/dtype.h": "bool same(c10::ScalarType a);\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    found = survey(tmp_path)
    calls, composed = found.layers["calls"], found.layers["aten/composed"]
    assert (calls.files, calls.lines, calls.plain, calls.blocked) == (3, 6, 1, 2)
    assert (composed.files, composed.stable, composed.operators, composed.blocked) == (2, 1, 1, 0)
    scalar, group = group_of("at::Scalar"), group_of("c10d::Work")
    assert found.lacking == {scalar: 2, group: 1} and found.only == {scalar: 1}


def test_the_types_of_a_schema_are_found() -> None:
    schema = (
        "aten::conv.out(Tensor input, Tensor? bias=None, SymInt[2] stride=[1, 1], *, "
        "Scalar alpha=1, bool[3] mask, Generator? generator=None, Tensor(a!) out) -> Tensor(a!)"
    )
    assert types_in(schema) == {"Tensor", "Tensor?", "SymInt[]", "Scalar", "bool[]", "Generator?"}
    assert types_in("aten::make() -> Tensor") == set()


@pytest.fixture
def prototype(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """benchmarks/stable_abi.py; its processes use the vendor cpu."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    monkeypatch.setenv("DL_VENDORS", "cpu")
    yield importlib.import_module("stable_abi")
    sys.modules.pop("stable_abi", None)


def test_a_library_of_the_stable_abi_replaces_operators_of_dl_tensors(
    prototype: Any, tmp_path: Path
) -> None:
    library = prototype.build(tmp_path, *prototype.VARIANTS["stable ABI"])
    # The process compares results with those of the CPU.
    assert set(prototype.measure(library)) == set(prototype.FORMS)
    command = ["nm", "--dynamic", "--undefined-only", str(library)]
    needed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "aoti_torch_empty_strided" in needed
    # Mangled names of the namespaces at, c10 and torch.
    for name in ("_ZN2at", "_ZNK2at", "_ZN3c10", "_ZNK3c10", "_ZN5torch"):
        assert name not in needed
