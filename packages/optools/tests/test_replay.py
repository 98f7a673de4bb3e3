"""Replay of bundles: checks, times, exports and commands."""

from __future__ import annotations

import argparse
import contextlib
import io
import math
import os
import runpy
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from autocompare_faults import FAULTS, Fault, FaultyDevice, Inputs, Wrong, changed, replaced
from bundle_cases import HAS_DL, bundles, capture, captured, forge
from diopi_proto.tolerance import OpClass, compare
from dl_core.commands import Command
from dl_core.errors import OutputError
from dl_optools import run_op_from_data
from dl_optools.bundle import Bundle, BundleError, find, read
from dl_optools.bundle.placement import Placement
from dl_optools.commands.bundle import BUNDLE
from dl_optools.commands.replay import REPLAY
from dl_optools.replay import run as replay
from dl_optools.replay.check import check
from dl_optools.replay.export import pack, to_bench, to_repro
from dl_optools.replay.run import measure, run


def program(device: str = "cpu") -> None:
    """Calls of many kinds."""
    torch.manual_seed(3)
    x = torch.randn(4, 6, device=device, requires_grad=True)
    weight = torch.randn(5, 6, device=device, requires_grad=True)
    norm = torch.ones(5, device=device, requires_grad=True)
    y = functional.layer_norm(functional.linear(x, weight), (5,), norm)
    y = functional.relu(y, inplace=True)
    one, two = y.split([2, 3], -1)
    std, mean = torch.std_mean(two, -1, keepdim=True)
    z = torch.cat([one * 2, (two - mean) / std], -1)
    z = functional.dropout(z, 0.25)
    z[0] = 0.5
    loss = functional.cross_entropy(z, torch.tensor([0, 1, 2, 3], device=device))
    loss.backward()
    with torch.no_grad():
        weight.add_(weight.grad, alpha=-0.1)
        torch.add(norm, 1, out=norm)
    torch.arange(5, device=device).sum()
    x.detach().to(torch.bfloat16).matmul(weight.detach().t().to(torch.bfloat16))


@pytest.fixture(scope="module")
def capture_directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("capture")
    capture(program, directory)
    return directory


def test_everything_captured_replays_and_passes(capture_directory: Path) -> None:
    found = bundles(capture_directory)
    assert len(found) > 15
    for bundle in found:
        outcome = check(bundle)
        assert outcome.ok, (bundle.document.operator, outcome)
        assert outcome.parts


def test_recomputed_checkpoints_are_replayed_and_pass(tmp_path: Path) -> None:
    """An exception that the operator did not raise ends the recomputation early."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.GELU(), torch.nn.Linear(3, 3))
    x = torch.randn(2, 3, requires_grad=True)
    capture(lambda: checkpoint(model, x, use_reentrant=False).sum().backward(), tmp_path)
    found = bundles(tmp_path, "torch.nn.functional.linear")
    assert len(found) >= 3
    outcomes = [check(bundle) for bundle in found]
    assert all(x.ok for x in outcomes) and all(x.parts for x in outcomes)


def test_overloads_replay_and_pass(tmp_path: Path) -> None:
    capture(program, tmp_path, level="dispatch")
    found = bundles(tmp_path)
    assert len(found) > 30
    for bundle in found:
        assert check(bundle).ok, bundle.document.operator


def only(directory: Path, operator: str) -> Bundle:
    (found,) = bundles(directory, operator)
    return found


def test_gradients_of_a_replay_are_those_that_were_captured(capture_directory: Path) -> None:
    outcome = check(only(capture_directory, "torch.nn.functional.linear"))
    names = [part.name for part in outcome.parts]
    assert names == ["output 0", "gradient of input 0", "gradient of input 1"]
    assert all(part.here <= 1 and part.recorded <= 1 for part in outcome.parts)
    outcome = check(only(capture_directory, "torch.nn.functional.linear"), backward=False)
    assert [part.name for part in outcome.parts] == ["output 0"]


def test_random_calls_draw_the_same_numbers_again(capture_directory: Path) -> None:
    bundle = only(capture_directory, "torch.nn.functional.dropout")
    state = torch.get_rng_state()
    (result,) = run(bundle).results
    recorded = bundle.storages[
        bundle.document.tensors[bundle.document.results[0].tensor].storage or 0
    ]
    assert result.detach().reshape(-1).view(torch.uint8).equal(recorded)
    assert torch.get_rng_state().equal(state)


def test_generators_continue_from_their_state(tmp_path: Path) -> None:
    generator = torch.Generator().manual_seed(5)
    x = torch.zeros(100)
    x.normal_(generator=generator)
    captured(lambda: x.normal_(generator=generator), tmp_path)
    bundle = only(tmp_path, "torch.Tensor.normal_")
    assert run(bundle).results[0].equal(x)
    assert check(bundle).ok


def test_autocast_and_default_dtype_hold_in_a_replay(tmp_path: Path) -> None:
    def program() -> None:
        with torch.autocast("cpu", torch.bfloat16):
            torch.matmul(torch.ones(2, 2), torch.ones(2, 2))
        torch.set_default_dtype(torch.float64)
        try:
            torch.add(torch.tensor([1, 2]), 0.5)
        finally:
            torch.set_default_dtype(torch.float32)

    capture(program, tmp_path)
    assert run(only(tmp_path, "torch.matmul")).results[0].dtype == torch.bfloat16
    assert run(only(tmp_path, "torch.add")).results[0].dtype == torch.float64
    assert torch.get_default_dtype() == torch.float32


def test_a_wrong_record_is_found_on_a_right_device(tmp_path: Path) -> None:
    captured(lambda: torch.exp(torch.linspace(0, 1, 50)), tmp_path / "right")
    captured(lambda: torch.exp(torch.linspace(0, 1.001, 50)), tmp_path / "other")
    right, other = only(tmp_path / "right", "torch.exp"), only(tmp_path / "other", "torch.exp")
    index = right.document.tensors[right.document.results[0].tensor].storage
    piece = other.document.storages[
        other.document.tensors[other.document.results[0].tensor].storage or 0
    ].pieces[0]
    shutil.copytree(tmp_path / "other" / "store", tmp_path / "right" / "store", dirs_exist_ok=True)
    forge(right.path, lambda d: d["storages"][index]["pieces"][0].update(hash=piece.hash))
    outcome = check(read(right.path))
    assert not outcome.ok
    (part,) = outcome.parts
    assert part.here <= 1 < part.recorded
    assert "as recorded" in part.detail
    assert "here" not in part.detail.splitlines()[0]


def test_a_wrong_device_is_found(capture_directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from dl_optools.replay import check as checking

    bundle = only(capture_directory, "torch.nn.functional.layer_norm")
    real = checking.run
    calls: list[object] = []

    def faulty(*args: object, **options: object) -> object:
        outcome = real(*args, **options)  # type: ignore[arg-type]
        if not calls:
            with torch.no_grad():
                outcome.results[0][0, 0] += 0.01
        calls.append(args)
        return outcome

    monkeypatch.setattr(checking, "run", faulty)
    outcome = check(bundle)
    assert [part.name for part in outcome.parts if not part.ok] == ["output 0"]
    assert "output 0 here" in outcome.parts[0].detail


def faulty(monkeypatch: pytest.MonkeyPatch, operator: str, wrong: Wrong) -> None:
    """Replayed calls run on a faulty device; placement of arguments and judgement do not."""
    real = replay._settings

    @contextlib.contextmanager
    def with_fault(*args: Any) -> Iterator[None]:
        with real(*args), FaultyDevice(operator, wrong):
            yield

    monkeypatch.setattr(replay, "_settings", with_fault)


@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_every_fault_is_found_in_a_run_and_in_a_record(
    fault: Fault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {"level": "dispatch", "ops": fault.operator}
    with FaultyDevice(fault.operator, fault.wrong):
        capture(lambda: fault.program(Inputs("cpu")), tmp_path / "wrong", **options)
    capture(lambda: fault.program(Inputs("cpu")), tmp_path / "right", **options)
    right = bundles(tmp_path / "right")
    assert right and all(check(bundle).ok for bundle in right)
    found = [part for bundle in bundles(tmp_path / "wrong") for part in check(bundle).parts]
    assert [part for part in found if part.recorded > 1 and "as recorded" in part.detail]
    assert all(part.here <= 1 or math.isnan(part.here) for part in found)
    faulty(monkeypatch, fault.operator, fault.wrong)
    found = [part for bundle in right for part in check(bundle).parts]
    assert [part for part in found if part.here > 1 and " here" in part.detail]
    assert all(part.recorded <= 1 or math.isnan(part.recorded) for part in found)


@pytest.mark.parametrize("level", ["api", "dispatch"])
def test_faults_that_a_coarse_bound_allows_are_named(level: str, tmp_path: Path) -> None:
    operator = "aten.native_layer_norm.default"
    x = torch.randn(1, 256, 64, generator=torch.Generator().manual_seed(0))
    name = operator if level == "dispatch" else "torch.nn.functional.layer_norm"
    with FaultyDevice(operator, replaced(4, lambda epsilon: epsilon * 5)):
        (bundle,) = captured(
            lambda: functional.layer_norm(x, (64,)), tmp_path, level=level, ops=name
        )
    part = check(bundle).parts[0]
    assert part.here <= 1 < part.recorded
    assert part.name == "output 0" and part.detail.startswith("output 0 as recorded: ")
    wide = functional.layer_norm(x.double(), (64,)).numpy()
    recorded = Placement(bundle, torch.device("cpu")).tensor(bundle.document.results[0].tensor)
    # The bound of a sum of all 256 * 64 elements, each as large as the largest result.
    coarse = compare(
        recorded.numpy(),
        wide,
        dtype="float32",
        op_class=OpClass.MATMUL,
        reduction_length=256 * 64,
        magnitude=float(abs(wide).max()),
    )
    assert coarse.ok


def test_a_wrong_gradient_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    x, weight = (torch.linspace(-1, 1, 12).reshape(3, 4).requires_grad_() for _ in range(2))
    program = functional.linear
    (bundle,) = captured(
        lambda: program(x, weight).sum().backward(), tmp_path, ops="torch.nn.functional.linear"
    )
    assert [part.name for part in check(bundle).parts if part.ok] == [
        *("output 0", "gradient of input 0", "gradient of input 1")
    ]

    def wrong(f: Any, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
        product: torch.Tensor = f(left, right)
        return product * (1 + 1e-5) if product.shape == (3, 4) else product

    real = torch.autograd.grad

    def grad(*args: Any, **options: Any) -> Any:
        # The reference's backward runs after the device's backward.
        monkeypatch.setattr(torch.autograd, "grad", real)
        with FaultyDevice("aten.mm.default", wrong):
            return real(*args, **options)

    monkeypatch.setattr(torch.autograd, "grad", grad)
    parts = check(bundle).parts
    assert [part.name for part in parts if not part.ok] == [
        *("gradient of input 0", "gradient of input 1")
    ]


def test_variables_set_tolerances_of_replays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with FaultyDevice("aten.exp.default", lambda f, x: f(x) * 1.01):
        capture(lambda: torch.exp(torch.ones(3)), tmp_path, ops="torch.exp")
    arguments = (str(tmp_path), "--device", "cpu", "--check")
    assert command(REPLAY, *arguments) == 1
    monkeypatch.setenv("EXP_AUTOCOMPARE_ERROR_TOLERANCE_FLOAT32", "0,0.1")
    assert command(REPLAY, *arguments) == 0
    capsys.readouterr()
    monkeypatch.setenv("EXP_AUTOCOMPARE_ERROR_TOLERANCE_FLOAT32", "much")
    assert command(REPLAY, *arguments) == 2
    assert "EXP_AUTOCOMPARE_ERROR_TOLERANCE_FLOAT32='much'" in capsys.readouterr().err


def test_without_a_reference_run_and_record_are_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (bundle,) = captured(
        lambda: torch.bernoulli(torch.full((50,), 0.5)),
        tmp_path,
        ops="aten.bernoulli.default",
        level="dispatch",
    )
    outcome = check(bundle)
    assert outcome.ok and outcome.parts[0].here == 0 and math.isnan(outcome.parts[0].recorded)
    assert "random numbers" in outcome.notes[0]
    faulty(monkeypatch, "aten.bernoulli.default", lambda f, x, **options: 1 - f(x, **options))
    assert [part.name for part in check(bundle).parts if not part.ok] == ["output 0"]


def test_in_place_writes_are_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = torch.ones(3), torch.ones(3)

    def program() -> None:
        x.add_(y)
        y[1:] = 4

    capture(program, tmp_path)
    for bundle in bundles(tmp_path):
        outcome = check(bundle)
        assert outcome.ok and [part.name for part in outcome.parts] == ["argument 0"]
    faulty(monkeypatch, "aten.add_.Tensor", lambda f, x, *rest, **options: x)
    outcome = check(only(tmp_path, "torch.Tensor.add_"))
    assert [part.name for part in outcome.parts if "here" in part.detail] == ["argument 0"]


@pytest.mark.parametrize("dtype", ["float8_e4m3fn", "complex64", "float64", "uint8"])
def test_dtypes_of_all_kinds_are_checked(dtype: str, tmp_path: Path) -> None:
    x = torch.ones(4).to(getattr(torch, dtype))
    found = captured(lambda: torch.clone(x), tmp_path)
    assert found and all(check(bundle).ok for bundle in found)


def test_a_call_that_raised_has_nothing_to_compare(tmp_path: Path) -> None:
    def program() -> None:
        with pytest.raises(RuntimeError):
            torch.matmul(torch.ones(2, 3), torch.ones(2, 3))

    capture(program, tmp_path)
    bundle = only(tmp_path, "torch.matmul")
    with pytest.raises(BundleError, match="raised"):
        check(bundle)
    with pytest.raises(RuntimeError, match="mat1 and mat2"):
        run(bundle)


def test_memory_that_is_not_initialised_is_not_compared(tmp_path: Path) -> None:
    capture(lambda: torch.empty_like(torch.ones(3)), tmp_path)
    outcome = check(only(tmp_path, "torch.empty_like"))
    assert outcome.ok
    assert math.isnan(outcome.parts[0].here)
    assert "uninitialised" in outcome.notes[0]


def test_each_timed_run_sees_new_arguments(tmp_path: Path) -> None:
    x = torch.ones(3)
    capture(lambda: x.mul_(2), tmp_path)
    bundle = only(tmp_path, "torch.Tensor.mul_")
    times = measure(bundle, repeat=4)
    assert len(times.forward) == 4
    assert times.backward == []
    assert run(bundle).results[0].tolist() == [2, 2, 2]


def test_times_of_backward_are_apart(capture_directory: Path) -> None:
    bundle = only(capture_directory, "torch.nn.functional.linear")
    assert len(measure(bundle, repeat=2).backward) == 2
    assert measure(bundle, repeat=2, backward=False).backward == []


def test_devices_that_are_not_here_are_refused(tmp_path: Path) -> None:
    capture(lambda: torch.ones(2).neg(), tmp_path)
    bundle = bundles(tmp_path)[0]
    forge(bundle.path, lambda d: d["tensors"][0].update(device="xyz:0"))
    with pytest.raises(BundleError, match="xyz:0"):
        run(read(bundle.path))


def test_a_bundle_of_a_foreign_device_replays_on_the_cpu(tmp_path: Path) -> None:
    """No backend named ``xyz`` is registered here."""
    x = torch.randn(3, 3)
    capture(lambda: torch.matmul(x, x), tmp_path)
    bundle = bundles(tmp_path)[0]

    def move(document: dict) -> None:  # type: ignore[type-arg]
        document["device"] = "xyz"
        for tensor in document["tensors"]:
            tensor["device"] = "xyz:0"

    forge(bundle.path, move)
    assert check(read(bundle.path)).ok


def without_packages(script: Path, *arguments: str) -> str:
    """Run a script in an interpreter with installed packages only."""
    environ = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "-W", "error", str(script), *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=environ,
        cwd=script.parent,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "operator",
    [
        "torch.nn.functional.linear",
        "torch.nn.functional.relu",
        "torch.nn.functional.dropout",
        "torch.Tensor.__setitem__",
        "torch.std_mean",
    ],
)
def test_a_repro_stands_alone(operator: str, capture_directory: Path, tmp_path: Path) -> None:
    script = tmp_path / "repro.py"
    to_repro(bundles(capture_directory, operator)[0], script)
    said = without_packages(script)
    assert "result 0: the same as recorded" in said
    assert "differ" not in said


def run_script(script: Path, *arguments: str, alone: bool) -> tuple[int | str | None, str]:
    """Return the exit status and the output of a script.

    :param alone: run the script as if dl-optools were not installed.
    """
    said = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(said):
        patch.setattr(sys, "argv", [str(script), *arguments])
        if alone:
            patch.setitem(sys.modules, "dl_optools.replay.scripts", None)
        try:
            runpy.run_path(str(script), run_name="__main__")
        except SystemExit as ended:
            return ended.code, said.getvalue()
    return 0, said.getvalue()


def too_large(function: Any, x: torch.Tensor) -> torch.Tensor:
    """A fault of the device that does not affect the tools' computations on the CPU."""
    result: torch.Tensor = function(x)
    return result * 1.5 if x.device.type == "dl" else result


@pytest.mark.parametrize("alone", [False, True])
def test_a_repro_reports_which_side_is_wrong(alone: bool, device: str, tmp_path: Path) -> None:
    """The script runs on the captured device unless another device is named."""
    x = torch.linspace(-2, 2, 64).to(device)
    fault = FaultyDevice("aten.exp.default", too_large if device == "dl" else changed(torch.neg))
    capture(x.exp, tmp_path / "right", device=device)
    with fault:
        capture(x.exp, tmp_path / "wrong", device=device)
    for name in ("right", "wrong"):
        (path,) = find(tmp_path / name)
        to_repro(read(path), tmp_path / f"{name}.py")
    status, said = run_script(tmp_path / "right.py", alone=alone)
    judge = "a plain comparison" if alone else "the rounding bound of dl replay --check"
    assert status == 0 and f"verdict: right on {device}, by {judge}" in said
    status, said = run_script(tmp_path / "wrong.py", alone=alone)
    assert "64 of 64 differ" in said
    # The recording is wrong, but the device is right again, so the replay is right. A plain
    # comparison on the CPU, however, takes the recording as the reference.
    assert status == (1 if alone and device == "cpu" else 0)
    if device == "dl":
        with fault:
            status, said = run_script(tmp_path / "wrong.py", alone=alone)
        assert status == 1 and "the same as recorded" in said and "verdict: wrong on dl" in said
        assert run_script(tmp_path / "wrong.py", "cpu", alone=alone)[0] == 0
    with contextlib.redirect_stderr(io.StringIO()) as refused:
        assert run_script(tmp_path / "right.py", "nowhere", alone=alone)[0] == 2
    assert "nowhere is not available" in refused.getvalue()


def test_a_bench_stands_alone(capture_directory: Path, tmp_path: Path) -> None:
    script = tmp_path / "bench.py"
    to_bench(only(capture_directory, "torch.nn.functional.linear"), script)
    said = without_packages(script, "cpu", "--repeat", "3")
    assert said.startswith("forward: median")
    assert "backward: median" in said


def test_texts_of_a_bundle_never_become_code(tmp_path: Path) -> None:
    capture(lambda: torch.ones(2).neg(), tmp_path / "capture")
    (path,) = find(tmp_path / "capture")
    evil = f'x\n"""\nopen({str(tmp_path / "mark")!r}, \'w\')\n#\\'

    def change(document: dict) -> None:  # type: ignore[type-arg]
        document["program"]["module"] = evil
        document["software"] = {evil: evil}
        document["program"]["stack"] = [{"file": evil, "line": 1, "function": evil, "code": evil}]
        document["kwargs"] = {"dict": []}

    forge(path, change)
    to_repro(read(path), tmp_path / "repro.py")
    without_packages(tmp_path / "repro.py")
    assert not (tmp_path / "mark").exists()


def test_a_packed_bundle_needs_no_other_directory(capture_directory: Path, tmp_path: Path) -> None:
    bundle = only(capture_directory, "torch.nn.functional.linear")
    pack(bundle, tmp_path / "deep" / "packed")
    assert check(read(tmp_path / "deep" / "packed")).ok
    with pytest.raises(OutputError, match=r"bundle\.json exists; --force replaces it"):
        pack(bundle, tmp_path / "deep" / "packed")
    pack(bundle, tmp_path / "deep" / "packed", force=True)


def command(one: Command, *arguments: str) -> int:
    """Run a command in this process, which is faster; test_isolation.py tests child processes."""
    parser = argparse.ArgumentParser()
    one.configure(parser)
    return one.run(parser.parse_args([*arguments, "--trusted"]))


def test_dl_replay_checks_and_times(
    capture_directory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    directory = str(capture_directory)
    assert command(REPLAY, directory, "--device", "cpu", "--check", "--time", "--repeat", "2") == 0
    said = capsys.readouterr().out
    assert "verdict" in said.splitlines()[0]
    assert "torch.nn.functional.cross_entropy  ok" in said
    assert "WRONG" not in said
    assert command(REPLAY, directory, "--device", "cpu", "--forward-only") == 0
    assert "float32[4, 5]" in capsys.readouterr().out


def test_dl_replay_refuses_damaged_bundles(
    capture_directory: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    directory = Path(shutil.copytree(capture_directory, tmp_path / "copy"))
    first = find(directory)[0]
    (first / "bundle.json").write_text("{}")
    assert command(REPLAY, str(directory), "--device", "cpu") == 2
    said = capsys.readouterr()
    assert "no 'format'" in said.err
    assert "torch.nn.functional.cross_entropy" in said.out
    assert command(REPLAY, str(tmp_path / "nothing")) == 2
    assert "no bundle" in capsys.readouterr().err


@pytest.mark.parametrize("device", ["npu", "nowhere"])
def test_dl_replay_refuses_a_device_that_is_not_there(
    device: str, capture_directory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(REPLAY, str(capture_directory), "--device", device) == 2
    said = capsys.readouterr()
    assert f"device={device!r} is not a type of device of this machine" in said.err and not said.out


def test_dl_replay_tells_calls_of_several_runs_apart(
    capture_directory: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("first", "second"):
        shutil.copytree(capture_directory, tmp_path / "runs" / name)
    assert command(REPLAY, str(tmp_path / "runs"), "--device", "cpu") == 0
    places = [line.split()[0] for line in capsys.readouterr().out.splitlines()[1:]]
    assert len(set(places)) == len(places)
    assert places[0].startswith("first/") and places[1] == places[0].replace("first", "second")


def test_dl_bundle_show_lists_the_content_of_a_bundle(
    capture_directory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = only(capture_directory, "torch.nn.functional.linear").path
    assert command(BUNDLE, "show", str(path)) == 0
    said = capsys.readouterr().out
    assert "torch.nn.functional.linear (level api), captured on cpu" in said
    assert "y = functional.layer_norm(functional.linear(x, weight)" in said
    assert "gradient of input 1" in said
    assert "  call    torch.nn.functional.linear(input 0, input 1)\n" in said


def test_dl_bundle_exports(
    capture_directory: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(only(capture_directory, "torch.nn.functional.linear").path)
    for what, name in (("to-repro", "r.py"), ("to-bench", "b.py"), ("pack", "packed")):
        assert command(BUNDLE, what, path, str(tmp_path / name)) == 0
        assert (tmp_path / name).exists()
    assert command(BUNDLE, "to-repro", str(capture_directory), str(tmp_path / "x.py")) == 2
    assert "name a single one" in capsys.readouterr().err


@pytest.mark.parametrize("taken", ["model.py", "model.safetensors"])
def test_dl_bundle_replaces_files_only_with_force(
    taken: str, capture_directory: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The script is not replaced, and neither is its tensor file, which the user did not name."""
    path = str(only(capture_directory, "torch.nn.functional.linear").path)
    (tmp_path / taken).write_text("weights of a month")
    script = str(tmp_path / "model.py")
    for what in ("to-repro", "to-bench"):
        assert command(BUNDLE, what, path, script) == 2
        assert f"{tmp_path / taken} exists; --force replaces it" in capsys.readouterr().err
        assert [x.read_text() for x in tmp_path.iterdir()] == ["weights of a month"]
    assert command(BUNDLE, "to-repro", path, script, "--force") == 0
    assert "same as recorded" in without_packages(Path(script))
    assert command(BUNDLE, "to-repro", path, str(tmp_path / "x.safetensors")) == 2
    assert "choose another name" in capsys.readouterr().err


def test_run_op_from_data_has_its_options(
    capture_directory: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dl_optools.tool.device_under_test", lambda: "cpu")
    directory = str(capture_directory)
    options = [
        "--trusted",
        "--run_times",
        "2",
        "--only_run_forward",
        "--sync_time_measure",
        "--acc_check",
    ]
    assert run_op_from_data.main([directory, *options]) == 0
    said = capsys.readouterr().out
    assert "forward us" in said
    operators = len(list(capture_directory.rglob("bundle.json")))
    assert said.count(" forward  elasped ") == 2 * operators
    assert "allclose: True" in said and "allclose: False" not in said
    assert run_op_from_data.main([directory, "--acc_check", "true", "--trusted"]) == 0
    assert "verdict" in capsys.readouterr().out


@pytest.mark.skipif(not HAS_DL, reason="no dl device")
@pytest.mark.parametrize("level", ["api", "dispatch"])
def test_a_capture_on_dl_replays_on_dl_and_in_a_process_without_vendors(
    level: str, tmp_path: Path
) -> None:
    capture(lambda: program("dl"), tmp_path, device="dl", level=level)
    found = bundles(tmp_path)
    assert len(found) > 15
    for bundle in found:
        assert bundle.document.device == "dl"
        assert check(bundle, "dl").ok, bundle.document.operator
    packages = Path(read.__code__.co_filename).parents[2]
    script = (
        "import sys; sys.path[:0] = sys.argv[2:]\n"
        "import torch\n"
        "assert torch._C._get_privateuse1_backend_name() == 'privateuseone'\n"
        "from pathlib import Path\n"
        "from dl_optools.bundle import find, read\n"
        "from dl_optools.replay.check import check\n"
        "for path in find(Path(sys.argv[1])):\n"
        "    assert check(read(path), 'cpu').ok, path\n"
    )
    import diopi_proto

    places = [str(packages), str(Path(diopi_proto.__path__[0]).parent)]
    environ = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script, str(tmp_path), *places],
        capture_output=True,
        text=True,
        check=False,
        env=environ,
    )
    assert done.returncode == 0, done.stderr
