"""A device with only float32 and int32: its adaptor file is tested together with its library."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from diopi_proto.build import compile_library

WHOLE = """\
version: 1
all: {cast: {float64: float32}}
operators:
  diopiRelu: {layout: channels_last}
  diopiArgmax: {parameters: {out: {cast: {int64: int32}}}}
  diopiNonzero: {parameters: {out: {cast: {int64: int32}}}}
"""


def library(folder: Path, *flags: str) -> Path:
    source = Path(__file__).with_name("narrow.cpp")
    return compile_library(
        folder / "libnarrow.so", [source], compile_flags=["-O1", "-Wall", "-Werror", *flags]
    )


@pytest.fixture(scope="module")
def narrow(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return library(tmp_path_factory.mktemp("narrow"))


def report(
    path: Path, folder: Path, text: str | None, *operators: str, code: int = 0
) -> tuple[str, dict[str, Any]]:
    """Run operators with an adaptor file of this text, and return the output and the report."""
    options = [option for name in operators for option in ("--fname", name)]
    if text is not None:
        (folder / "adaptor.yaml").write_text(text, encoding="utf-8")
        options += ["--adaptor", str(folder / "adaptor.yaml")]
    files = ["--json", str(folder / "report.json"), "--html", str(folder / "report.html")]
    done = subprocess.run(
        [sys.executable, "-m", "dl_conformance", "--library", str(path), *options, *files],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout, json.loads((folder / "report.json").read_text())


def dtypes_that_pass(found: dict[str, Any]) -> dict[str, set[str]]:
    passed: dict[str, set[str]] = {}
    for case in found["cases"]:
        if case["status"] == "passed":
            passed.setdefault(case["operator"], set()).add(case["dtype"])
    return passed


def test_without_an_adaptor_unsupported_dtypes_are_declined(narrow: Path, tmp_path: Path) -> None:
    text, found = report(narrow, tmp_path, None, "Add", "Relu", "Argmax")
    assert dtypes_that_pass(found) == {"diopiAdd": {"float32"}}
    assert "adaptor" not in text
    assert found["conversions"] == {}


def test_with_it_all_pass_and_every_conversion_is_in_the_report(
    narrow: Path, tmp_path: Path
) -> None:
    text, found = report(narrow, tmp_path, WHOLE, "Add", "Relu", "Argmax", "Nonzero")
    passed = dtypes_that_pass(found)
    assert passed.keys() == {"diopiAdd", "diopiRelu", "diopiArgmax", "diopiNonzero"}
    assert all(dtypes >= {"float32", "float64"} for dtypes in passed.values())
    assert "adaptor, float64→float32" in text and "conversions in" in text
    done = found["conversions"]
    assert done["diopiNonzero"]["out: int32→int64 (on the host)"] > 0
    assert done["diopiArgmax"]["out: int32→int64 (on the host)"] > 0
    assert done["diopiAdd"]["other: float64→float32 (on the host)"] > 0
    assert any("contiguous→" in what for what in done["diopiRelu"])
    cases = [case["conversions"] for case in found["cases"] if case.get("conversions")]
    assert sum(sum(x.values()) for x in cases) == sum(sum(x.values()) for x in done.values())
    page = (tmp_path / "report.html").read_text()
    assert "Conversions by the adaptor of narrow 1" in page
    assert "float64→float32" in page


def test_wrong_conversions_are_found(narrow: Path, tmp_path: Path) -> None:
    # The adaptor converts only one of two tensors.
    half = "version: 1\noperators:\n  diopiAdd: {parameters: {input: {cast: {float64: float32}}}}\n"
    _, found = report(narrow, tmp_path, half, "Add")
    assert dtypes_that_pass(found).get("diopiAdd") == {"float32"}
    # The device declines dtypes that it does not support.
    wide = "version: 1\noperators:\n  diopiAdd: {cast: {float32: float16}}\n"
    _, found = report(narrow, tmp_path, wide, "Add")
    assert "diopiAdd" not in dtypes_that_pass(found)


def test_wrong_answers_in_the_narrow_dtype_are_still_wrong(tmp_path: Path) -> None:
    _, found = report(library(tmp_path, "-DWRONG"), tmp_path, WHOLE, "Relu", code=1)
    dtypes = {case["dtype"] for case in found["cases"] if case["status"] == "failed"}
    assert dtypes == {"float32", "float64"}


def test_a_file_that_is_wrong_ends_the_run(narrow: Path, tmp_path: Path) -> None:
    (tmp_path / "adaptor.yaml").write_text("version: 1\noperators:\n  diopiAdz: {}\n")
    command = [sys.executable, "-m", "dl_conformance", "--library", str(narrow)]
    done = subprocess.run(
        [*command, "--adaptor", str(tmp_path / "adaptor.yaml"), "--fname", "Add"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "adaptor.yaml:3: operators.diopiAdz: the contract has no such operator" in done.stderr
