"""Every model is present, selectable and in the report."""

from __future__ import annotations

import subprocess
import sys

from dl_conformance.model_table import as_rows, model_table
from dl_conformance.models.model import all_models
from dl_conformance.outcome import Outcome
from dl_conformance.selection import Selection
from dl_report.page import macro

FAMILIES = (
    *("llama", "internlm2", "qwen2", "qwen3", "internvl", "resnet-50", "bert", "vit", "swin"),
    *("mask-rcnn", "yolo", "stable-diffusion", "deepseek"),
)


def test_all_families_of_models_are_present() -> None:
    for family in FAMILIES:
        assert [x for x in all_models() if x.startswith(family)], family


def test_models_have_cases_of_their_own() -> None:
    for name in all_models():
        cases = list(Selection(models=[name]).cases())
        assert len({x.operator for x in cases}) > 3, name
        assert all(name in x.models for x in cases)


def test_call_of_two_models_is_one_case() -> None:
    both = {"llama-3.1-8b", "internlm2-7b"}
    shared = [x for x in Selection(operators=["Silu"]).cases() if both <= set(x.models)]
    assert shared
    assert len({x.name for x in shared}) == len(shared)


def test_unknown_model_is_refused() -> None:
    command = [sys.executable, "-m", "dl_conformance", "--list", "--model", "nope"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "--list-models" in done.stderr


def test_report_names_missing_operators_of_a_model() -> None:
    outcomes = [
        Outcome("a", "diopiSilu", "float16", "passed"),
        Outcome("b", "diopiMul", "float16", "failed", "wrong value"),
        Outcome("c", "diopiLinear", "float16", "unsupported", "not implemented"),
        Outcome("d", "diopiSilu", "float32", "passed"),
    ]
    table = model_table(outcomes, {"a": ["m"], "b": ["m"], "c": ["m", "n"], "d": ["m"]})
    assert table == {
        "m": {
            "float16": {"passed": 1, "wrong": ["diopiMul"], "missing": ["diopiLinear"]},
            "float32": {"passed": 1, "wrong": [], "missing": []},
        },
        "n": {"float16": {"passed": 0, "wrong": [], "missing": ["diopiLinear"]}},
    }
    rows = as_rows([{"models": table}, {}])
    page = macro("models", "matrix.jinja", "dl_conformance")(["one", "two"], rows)
    assert "wrong diopiMul; missing diopiLinear" in page
    assert "all 1 calls" in page
    assert "not run" in page
