"""Scripts of ditorch's documentation, and the lines that its users search for."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

PROGRAM = """
    import torch
    import op_tools

    def code_snippet():
        x = torch.arange(6.0, device="dl").reshape(2, 3).requires_grad_()
        y = torch.nn.functional.linear(x * 2 + 1, torch.ones(4, 3, device="dl"))
        values, _ = y.sort()
        values.sum().backward()
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("results")


def run(code: str, folder: Path, **variables: str) -> str:
    """Run a script in a folder and return its output."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("OP_", "DL_"))}
    path = os.pathsep.join(filter(None, sys.path))
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(PROGRAM) + textwrap.dedent(code)],
        env={**kept, "PYTHONPATH": path, "DL_VENDORS": "cpu", **variables},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def command(module: str, folder: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join(filter(None, sys.path))
    return subprocess.run(
        [sys.executable, "-m", f"op_tools.{module}", *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": path, "DL_VENDORS": "cpu"},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_captures_are_announced_and_replay_with_a_line_for_each_run(folder: Path) -> None:
    said = run(
        """
        capture = op_tools.OpCapture()
        capture.start()
        code_snippet()
        capture.stop()
        """,
        folder,
        OP_CAPTURE_DISABLE_LIST="torch.Tensor.add",
    )
    assert "apply OpCaptureHook on torch.Tensor.mul\n" in said
    assert "skip OpCaptureHook on torch.Tensor.add\n" in said
    (sort,) = re.findall(r"^(\S+/torch\.Tensor\.sort/\d+)/bundle\.json saved$", said, re.M)
    assert f"{sort}/bundle.json saved with gradients\n" in said
    times = command("run_op_from_data", folder, sort, "--run_times", "3", "--sync_time_measure")
    assert times.returncode == 0, times.stderr
    line = r"^SyncExecuteTimer: torch\.Tensor\.sort {} +elasped \d+\.\d{{8}} ms$"
    for direction in ("forward", "backward"):
        assert len(re.findall(line.format(direction), times.stdout, re.M)) == 3, times.stdout
    checked = command("run_op_from_data", folder, sort, "--acc_check", "--run_times", "1")
    assert checked.returncode == 0, checked.stderr
    for label in ("0th", "0th input grad"):
        line = (
            rf"^OpAutoCompareHook: torch\.Tensor\.sort {label} +allclose: True +max_diff: +0\.0+$"
        )
        assert re.search(line, checked.stdout, re.M), checked.stdout


def test_every_call_is_compared_and_has_a_line(folder: Path) -> None:
    said = run(
        """
        with op_tools.OpAutoCompare():
            for _ in range(3):
                code_snippet()
        """,
        folder,
    )
    linear = (
        r"^OpAutoCompareHook: torch\.nn\.functional\.linear +allclose: True +max_diff: +\d\.\d{9}$"
    )
    assert len(re.findall(linear, said, re.M)) == 3
    assert re.search(r"^OpAutoCompareHook: torch\.Tensor\.sort 1th +allclose: True", said, re.M)
    assert re.search(r"linear 0th input grad +allclose: True", said)
    assert "apply OpAutoCompareHook on torch.Tensor.sort\n" in said


def test_a_wrong_result_has_its_arguments_and_its_bundle(folder: Path) -> None:
    said = run(
        """
        x = torch.randn(64, 512, generator=torch.Generator().manual_seed(0)).to("dl")
        with op_tools.OpAutoCompare():
            torch.nn.functional.linear(x, x)
        """,
        folder,
        # The reference is in float64: without a tolerance every rounding is an error.
        LINEAR_AUTOCOMPARE_ERROR_TOLERANCE="0,0",
    )
    assert re.search(r"^OpAutoCompareHook: \S+linear +allclose: False", said, re.M)
    given = re.search(r"^OpAutoCompareHook: torch\.nn\.functional\.linear input: (.*)$", said, re.M)
    assert given is not None and "'shape': torch.Size([64, 512])" in given[1]
    assert re.search(r"/torch\.nn\.functional\.linear\S*/bundle\.json saved$", said, re.M)


def test_every_function_is_timed_and_has_a_line(folder: Path) -> None:
    said = run(
        """
        timemeasure = op_tools.OpTimeMeasure()
        timemeasure.start()
        for _ in range(3):
            code_snippet()
        timemeasure.end()
        """,
        folder,
        OP_TIME_MEASURE_LIST=r"torch\.nn.*",
    )
    forward = r"^OpTimeMeasureHook: \S+linear +forward elasped: +\d+\.\d{8} ms +input: (.*)$"
    lines = re.findall(forward, said, re.M)
    assert len(lines) == 3 and "output: {'args': ({'shape': torch.Size([2, 4])" in lines[0]
    assert len(re.findall(r"linear +backward elasped: +\d", said)) == 3
    assert "skip OpTimeMeasureHook on torch.Tensor.sort\n" in said


def test_a_fallback_has_a_line_with_both_outputs(folder: Path) -> None:
    said = run(
        """
        with op_tools.OpFallback():
            code_snippet()
        """,
        folder,
        OP_FALLBACK_LIST="torch.nn.functional.linear",
    )
    name = r"^OpFallbackHook: torch\.nn\.functional\.linear +"
    assert re.search(name + r"input: {'args': \({'shape': torch\.Size\(\[2, 3\]\)", said, re.M)
    output = re.search(
        name + r"output: (\(.*\)) cpu output: (\(.*\)) dtype_convert_back_dict:{}$", said, re.M
    )
    assert output is not None
    assert "'device': 'dl:0'" in output[1] and "'device': 'cpu'" in output[2]
    assert "skip OpFallbackHook on torch.Tensor.mul\n" in said


def test_random_functions_that_stay_on_the_device_are_skipped(folder: Path) -> None:
    said = run(
        """
        with op_tools.OpFallback():
            torch.rand(3, 4, device="dl").exp()
        """,
        folder,
    )
    assert "skip OpFallbackHook on torch.rand\n" in said
    assert re.search(r"^OpFallbackHook: torch\.Tensor\.exp +output:", said, re.M)
    assert not re.search(r"^OpFallbackHook: torch\.rand ", said, re.M)


def test_random_functions_fall_back_if_they_are_named(folder: Path) -> None:
    said = run(
        """
        with op_tools.OpFallback():
            torch.ones(3, device="dl").normal_()
        """,
        folder,
        OP_FALLBACK_LIST="torch.Tensor.normal_",
    )
    assert "apply OpFallbackHook on torch.Tensor.normal_\n" in said
    assert re.search(r"^OpFallbackHook: torch\.Tensor\.normal_ +output:", said, re.M)


def test_features_on_single_functions_write_lines(folder: Path) -> None:
    said = run(
        """
        op_tools.apply_feature("torch.nn.functional.linear", "fallback")
        op_tools.apply_feature("torch.sort", feature="autocompare").undo()
        code_snippet()
        """,
        folder,
    )
    assert "apply OpFallbackHook on torch.nn.functional.linear\n" in said
    assert "OpFallbackHook: torch.nn.functional.linear" in said


def test_captures_of_ditorch_are_imported(folder: Path) -> None:
    run(
        """
        import pathlib

        def save(place, name, args, output):
            place = pathlib.Path("theirs", name, "11", place)
            place.mkdir(parents=True)
            given = {"name": name, "args": args, "kwargs": {}, "identifier": "x"}
            torch.save(given, place / "input.pth")
            torch.save({**given, "args": (output,), "kwargs": {}}, place / "output.pth")

        x = torch.arange(6.0).reshape(2, 3).requires_grad_()
        save("5", "torch.Tensor.div", (x, torch.full((3,), 4.0)), x / 4)
        save("6", "torch.Tensor.mul", (x, torch.full((3,), 4.0)), x * 5)
        save("7", "torch.Tensor.to", (x, torch.device("cuda", 0)), x.detach())
        class Unsafe:
            pass
        save("8", "torch.Tensor.add", (x, Unsafe()), x)
        save("9", "os.system", ("true",), x)
        """,
        folder,
    )
    done = command("import_captures", folder, "theirs", "-o", "ours")
    assert done.returncode == 1
    assert done.stderr.count("cannot be read with weights_only=True") == 1
    assert "'os.system' is not an operator" in done.stderr
    assert "[OpCapture] 3 calls" in done.stderr
    div = command("run_op_from_data", folder, Path("ours", "torch.Tensor.div"), "--acc_check")
    assert div.returncode == 0 and "allclose: True" in div.stdout, div.stderr
    # The recorded result of this one is wrong.
    mul = command("run_op_from_data", folder, Path("ours", "torch.Tensor.mul"), "--acc_check")
    assert mul.returncode == 1 and "as recorded" in mul.stdout


def test_an_empty_directory_is_an_error(tmp_path: Path) -> None:
    done = command("import_captures", tmp_path, ".")
    assert done.returncode == 2 and "no input.pth found" in done.stderr
