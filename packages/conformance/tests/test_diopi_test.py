"""The commands of DIOPI_TEST's documentation, retyped."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from dl_conformance.diopi_test import _CLOSEST, main, model_of, operators_of
from dl_conformance.models.model import all_models
from dl_conformance.selection import Selection, SelectionError


def diopi_test(*options: str) -> subprocess.CompletedProcess[str]:
    """Run ``python main.py`` with the options of the documentation."""
    command = [sys.executable, "-m", "dl_conformance.diopi_test", *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_dtypes_are_skipped_as_documented(library: Path) -> None:
    test = ("--mode", "run_test", "--fname", "abs")
    skip = ("--filter_dtype", "float64", "int64", "--nhwc")
    done = diopi_test(*test, *skip, "--library", str(library))
    # The library of the tests has a wrong Abs in float32 only.
    assert "DIOPI-Test - INFO - Run diopi_functions.diopiAbs" in done.stdout, done.stderr
    names = [case.name for case in Selection(operators=["Abs"]).cases()]
    left = Selection(operators=["Abs"], skipped_dtypes=["float64", "int64"]).cases()
    assert [x.name for x in left] == [x for x in names if "float64" not in x and "int64" not in x]


@pytest.mark.parametrize("mode", ["gen_data", "gen_case"])
def test_no_baseline_is_needed(mode: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--mode", mode, "--fname", "all_ops"]) == 0
    assert f"DIOPI-Test - INFO - --mode {mode}: no " in capsys.readouterr().out


def test_models_are_listed_and_chosen(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--get_model_list"]) == 0
    first = capsys.readouterr().out.split()[0]
    assert model_of(first.upper().replace("-", "_")) == first
    assert main(["--mode", "run_test", "--model_name", "no-model", "--vendor", "cpu"]) == 2
    said = capsys.readouterr().err
    assert "--model_name no-model: unknown model" in said and "--get_model_list prints" in said


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("densenet", "densenet-121"),
        ("swin_transformer", "swin-b"),
        ("mask_rcnn", "mask-rcnn-r50-fpn"),
        ("deeplabv3", "deeplabv3-r50"),
        ("vit", "vit-b-16"),
        ("resnet50", "resnet-50"),
    ],
)
def test_families_of_models_are_known_by_their_names(name: str, model: str) -> None:
    assert model_of(name) == model


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("faster_rcnn_r50", "the model with the most similar layers is mask-rcnn-r50-fpn"),
        ("deeplabv3plus", "the model with the most similar layers is deeplabv3-r50"),
        ("seresnet50", "the model with the most similar layers is resnet-50"),
        ("stgcn", "it has no similar model"),
    ],
)
def test_models_that_are_missing_have_the_most_similar_one(name: str, hint: str) -> None:
    with pytest.raises(SelectionError, match=f"--model_name {name}: .* DIOPI_TEST; {hint}; --get"):
        model_of(name)


def test_the_most_similar_models_exist() -> None:
    assert {*_CLOSEST.values()} - {""} <= {*all_models()}
    assert not {*_CLOSEST} & {re.sub(r"[^a-z0-9]", "", name) for name in all_models()}


@pytest.mark.parametrize(
    ("name", "operator"),
    [
        ("conv2d", "diopiConvolution2d"),
        ("cross_entropy", "diopiCrossEntropyLoss"),
        ("binary_cross_entropy_with_logits", "diopiBCEWithLogits"),
        ("interpolate", "diopiUpsampleNearest"),
        ("split", "diopiSplitWithSizes"),
    ],
)
def test_names_of_torch_are_known(name: str, operator: str) -> None:
    assert operator in operators_of(name)


def test_options_without_effect_are_explained(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--html_report", "--four_bytes", "--case_output_dir", "cases", "--nhwc_min_dim", "3"]
    assert main(["--mode", "gen_case", "--fname", "relu", *options]) == 0
    said = capsys.readouterr().out
    for name in ("html_report", "four_bytes", "case_output_dir", "nhwc_min_dim"):
        assert f"--{name} is not read: " in said


def test_a_name_stands_for_its_series() -> None:
    assert operators_of("all_ops") == []
    assert set(operators_of("add")) >= {"diopiAdd", "diopiAddScalar", "diopiAddInp"}
    assert set(operators_of("batch_norm")) >= {"diopiBatchNorm", "diopiBatchNormBackward"}
    assert operators_of("diopiAbs") == operators_of("abs") == ["diopiAbs", "diopiAbsInp"]
    with pytest.raises(SelectionError, match="--fname sofmax: the contract has no such operator"):
        operators_of("sofmax")


def test_a_configuration_of_a_device_is_not_run(
    tmp_path: Path, library: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "device_config.py"
    config.write_text("raise SystemExit('this file ran')\n")
    options = ["--fname", "abs", "--sample", "1000", "--library", str(library)]
    main(["--mode", "run_test", "--impl_folder", str(config), *options])
    assert "device_config.py is not read" in capsys.readouterr().out
