"""``dl tune op`` refuses invalid arguments before it measures."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="operators are torch's")

from dl_autotune.command import configure, run
from dl_autotune.operators.call import check_dtype, function_of


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["mm", "--dtype", "float99"],
            "--dtype 'float99' is not a dtype .*; available: bfloat16, bool,",
        ),
        (["mm", "--dtype", "tensor"], "--dtype 'tensor' is not a dtype"),
        (["mm", "--dtype", "quint8"], "--dtype 'quint8' is not a dtype"),
        (["mm", "--shapes", "2x2147483649"], "--shapes 2x2147483649 has more than 2,147,483,648"),
        (["mm", "--shapes", "65536x65536"], "--shapes 65536x65536 has more than"),
        (["mm", "--shapes", "0x" + "9" * 5000], "--shapes 0x9999.* has more than"),
        (["mm", "--shapes", "2x\u0663"], "is not a shape like 64x128"),
        (["load"], "no operator 'load' of tensors; give one like mm"),
        (["save"], "no operator 'save' of tensors"),
        (["zeros"], "no operator 'zeros' of tensors"),
        (["__class__"], "no operator '__class__' of tensors"),
        (["aten::__class__"], "no operator 'aten::__class__' of tensors"),
        (["mm", "--set", "a=1", "--set", "b=1", "--set", "a=2"], "--set a is given twice"),
    ],
)
def test_untunable_calls_are_refused_at_once(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    message: str,
) -> None:
    monkeypatch.setattr(
        "dl_autotune.operators.tuner.tune_call", lambda *_: pytest.fail("it was measured")
    )
    parser = argparse.ArgumentParser()
    configure(parser)
    shapes = [] if "--shapes" in words else ["--shapes", "2x2", "2x2"]
    given = ["op", *words, *shapes, "--database", str(tmp_path / "t.sqlite")]
    assert run(parser.parse_args(given)) == 2
    said = capsys.readouterr().err
    assert re.search(message, said), said


@pytest.mark.parametrize(
    "name",
    [
        *("mm", "conv2d", "linear", "einsum", "softmax", "max_pool2d", "norm", "interpolate"),
        *("scaled_dot_product_attention", "convolution_backward", "aten::addmm", "exp_"),
        *("aten::sum.dim_IntList", "cat", "tensordot", "relu_", "aten::mm.default"),
    ],
)
def test_functions_of_tensors_are_found(name: str) -> None:
    assert callable(function_of(name))


@pytest.mark.parametrize("name", ["float32", "bfloat16", "complex64", "int8", "bool"])
def test_dtypes_of_numbers_are_taken(name: str) -> None:
    check_dtype(name)
