"""Arguments of operators are written to stderr: the same facts as DIPU, in the same order."""

from __future__ import annotations

import re

import pytest
import torch

from .processes import run

TENSOR = (
    r"numel:3, sizes:\[3\], stride:\[1\], is_view:0, TensorOptions\(dtype=float32, "
    r"device=dl:0, layout=strided, requires_grad=false\), data_ptr:0x[0-9a-f]+"
)


def lines(capfd: pytest.CaptureFixture[str]) -> list[str]:
    return capfd.readouterr().err.splitlines()


def test_level_one_names_what_serves_a_call(capfd: pytest.CaptureFixture[str]) -> None:
    x = torch.ones(3, device="dl")
    with torch.dl.dump_op_args(1):
        _ = x + x
        torch.special.bessel_j0(x)
    found = lines(capfd)
    assert found[0] == "[native dl:0]:add.Tensor  diopiAdd, diopiAddScalar"
    assert re.match(r"\[(fallback|native|torch) dl:0\]:special_bessel_j0", found[1])
    assert all(line.startswith("[") for line in found)


def test_level_two_adds_arguments_in_order_and_results(capfd: pytest.CaptureFixture[str]) -> None:
    x = torch.ones(3, device="dl")
    with torch.dl.dump_op_args(2, "add.*"):
        _ = x + 3
        torch.add(x, x, alpha=2, out=x)
    want = [
        r"\[native dl:0\]:add\.Tensor  diopiAdd, diopiAddScalar",
        rf"\tadd\.Tensor: self:{TENSOR}",
        r"\tadd\.Tensor: other:3",
        r"\tadd\.Tensor: alpha:1",
        rf"\tadd\.Tensor: out:{TENSOR}",
        r"\[native dl:0\]:add\.out  diopiAdd, diopiAddScalar",
        rf"\tadd\.out: self:{TENSOR}",
        rf"\tadd\.out: other:{TENSOR}",
        r"\tadd\.out: alpha:2",
        rf"\tadd\.out: out:{TENSOR}",
    ]
    found = lines(capfd)
    assert len(found) == len(want), found
    for line, pattern in zip(found, want, strict=True):
        assert re.fullmatch(pattern, line), line


def test_level_three_adds_values_and_abbreviates(capfd: pytest.CaptureFixture[str]) -> None:
    x, large = torch.ones(3, device="dl"), torch.ones(3000, 3000, device="dl")
    with torch.dl.dump_op_args(3, "mul.Tensor"):
        _ = x * 7
    found = lines(capfd)
    assert found[2] == "tensor([1., 1., 1.])" and found[-1] == "tensor([7., 7., 7.])"
    with torch.dl.dump_op_args(3, "mul.Tensor"):
        _ = large * 7
    assert len(lines(capfd)) < 40


def test_lists_of_tensors_have_a_line_each(capfd: pytest.CaptureFixture[str]) -> None:
    x = torch.ones(3, device="dl")
    with torch.dl.dump_op_args(2, "cat"):
        torch.cat([x, x])
    found = lines(capfd)
    assert found[1].startswith("\tcat: tensors[0]:numel:3") and "tensors[1]:numel:3" in found[2]
    assert found[3] == "\tcat: dim:0"


def test_the_innermost_block_decides_and_the_outer_is_restored(
    capfd: pytest.CaptureFixture[str],
) -> None:
    x = torch.ones(3, device="dl")
    with torch.dl.dump_op_args(1, "add.*"):
        with torch.dl.dump_op_args(0, "add.*"):
            _ = x + x
        assert lines(capfd) == []
        _ = x + x
        assert len(lines(capfd)) == 1
    _ = x + x
    assert lines(capfd) == []


def test_a_call_that_fails_has_its_arguments_written(capfd: pytest.CaptureFixture[str]) -> None:
    x = torch.ones(3, device="dl")
    with torch.dl.dump_op_args(2, "mm"), pytest.raises(RuntimeError):
        torch.mm(x, x)
    assert len(lines(capfd)) == 3


@pytest.mark.parametrize(("level", "count"), [("1", 1), ("0", 0)])
def test_the_variable_sets_the_level(level: str, count: int) -> None:
    done = run("import torch; x = torch.ones(3, device='dl'); x + x", DIPU_DUMP_OP_ARGS=level)
    assert done.stdout == "" and done.stderr.count("]:add.Tensor") == count


def test_levels_are_checked() -> None:
    for level in (4, -1, True, "2"):
        with pytest.raises(ValueError, match="unknown level"):
            torch.dl.set_dump_op_args(level)  # type: ignore[arg-type]
