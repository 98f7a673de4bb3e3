"""Every model is present, selectable and in the report."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

from dl_conformance.model_table import as_lines, as_rows, model_table
from dl_conformance.models.language import divided
from dl_conformance.models.model import LARGEST, all_models
from dl_conformance.outcome import Outcome
from dl_conformance.selection import Selection
from dl_conformance.vocabulary import tensors
from dl_report.page import macro

FAMILIES = (
    *("llama-2-70b", "llama-3", "internlm2-20b", "qwen2-72b", "qwen3-235b-a22b", "qwen3-30b-a3b"),
    *("deepseek-v3", "mixtral", "glm-4", "chatglm", "baichuan", "yi", "gemma", "phi-3", "mistral"),
    *("internvl-1.5", "resnet-50", "bert", "gpt2", "opt", "clip", "vit", "dinov2", "swin", "sam"),
    *("mask-rcnn", "retinanet", "ssd", "yolo", "detr", "deeplab", "unet", "vgg", "mobilenet"),
    *("densenet", "inception", "shufflenet", "convnext", "efficientnet", "resnext"),
    *("stable-diffusion-1.5", "stable-diffusion-xl"),
)


def test_all_families_of_models_are_present() -> None:
    for family in FAMILIES:
        assert [x for x in all_models() if x.startswith(family)], family
    assert len(all_models()) >= 45


def test_models_name_their_published_configurations() -> None:
    assert all(len(x.published) > 5 for x in all_models().values())


def test_tensor_parallelism_divides_what_it_can() -> None:
    whole = dict(heads=64, key_heads=4, vocabulary=151936, intermediate=1536)
    assert divided(whole, 8) == dict(heads=8, key_heads=1, vocabulary=18992, intermediate=192)
    assert divided(dict(whole, experts=128), 8)["intermediate"] == 1536


def test_no_tensor_of_a_model_is_larger_than_a_machine_can_judge() -> None:
    for case in Selection(models=[*all_models()]).cases():
        for tensor in tensors(case.arguments):
            assert math.prod(tensor.sizes) <= 1.02 * LARGEST, case.name


def test_report_of_a_model_names_missing_operators(library: Path) -> None:
    command = [sys.executable, "-m", "dl_conformance", "--library", str(library)]
    options = ["--model", "detr-r50", "-k", "Relu or Bmm", "--jobs", "1"]
    done = subprocess.run([*command, *options], capture_output=True, text=True, check=False)
    lines = [x for x in done.stdout.splitlines() if x.startswith("model ")]
    assert len(lines) == 1, done.stdout + done.stderr
    assert lines[0].startswith("model detr-r50: missing diopiBmm (float"), lines[0]


def test_line_of_a_model_without_problems_says_so() -> None:
    table = model_table([Outcome("a", "diopiSilu", "float16", "passed")], {"a": ["m"]})
    assert as_lines(table, ["m"]) == ["model m: no operator is missing or wrong"]


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
