"""Bundles that crash, hang or exceed limits end only the child process that runs them."""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from bundle_cases import capture, forge, store_bytes
from diopi_proto.free_memory import free_memory
from dl_core.commands import Command
from dl_optools import run_op_from_data
from dl_optools.bundle import BundleError, find, read
from dl_optools.bundle.sizes import Use, memory_needed
from dl_optools.commands.bundle import BUNDLE
from dl_optools.commands.replay import REPLAY
from dl_optools.isolation.answer import Answer
from dl_optools.isolation.limits import default_memory

MEBIBYTE = 1 << 20
Document = dict[str, Any]


def command(one: Command, *arguments: str | Path) -> int:
    parser = argparse.ArgumentParser()
    one.configure(parser)
    return one.run(parser.parse_args([str(x) for x in arguments]))


def replay(*arguments: str | Path) -> int:
    return command(REPLAY, *arguments, "--device", "cpu")


def arguments_are(change: Callable[[Document], None], bundle: Path) -> Path:
    forge(bundle, change)
    return bundle


def trusting_backward(directory: Path) -> Path:
    """Backward of a pooling with indices far out of range: torch does not check them."""
    x = torch.ones(1, 1, 4, 4, requires_grad=True)
    name = "aten.max_pool2d_with_indices_backward.default"
    torch_pool = torch.nn.functional.max_pool2d
    capture(lambda: torch_pool(x, 2).sum().backward(), directory, level="dispatch", ops=name)
    (bundle,) = find(directory)

    def change(document: Document) -> None:
        indices = document["tensors"][document["inputs"][2]]
        assert indices["dtype"] == "int64"
        far = store_bytes(directory, torch.full((4,), 1 << 40).numpy().tobytes())
        (piece,) = document["storages"][indices["storage"]]["pieces"]
        piece["hash"] = far

    return arguments_are(change, bundle)


def endless(directory: Path) -> Path:
    """A polynomial of a degree that its loop never reaches."""
    function = torch.special.legendre_polynomial_p
    x = torch.full((2,), 0.5, dtype=torch.float64)
    capture(lambda: function(x, torch.full((2,), 3.0, dtype=torch.float64)), directory)
    (bundle,) = find(directory)

    def change(document: Document) -> None:
        degree = document["tensors"][document["inputs"][1]]
        huge = store_bytes(directory, torch.full((2,), 1e18, dtype=torch.float64).numpy().tobytes())
        document["storages"][degree["storage"]]["pieces"][0]["hash"] = huge

    return arguments_are(change, bundle)


def huge_factory(directory: Path) -> Path:
    capture(lambda: torch.zeros(4), directory, level="dispatch", ops="aten.zeros.default")
    (bundle,) = find(directory)
    return arguments_are(lambda d: d.update(args={"tuple": [[1 << 38]]}), bundle)


def segments(directory: Path, unsafe: bool) -> Path:
    x, lengths = torch.arange(4.0), torch.tensor([1, 3])
    capture(
        lambda: torch.segment_reduce(x, "sum", lengths=lengths, unsafe=unsafe),
        directory,
        level="dispatch",
        ops="aten.segment_reduce.default",
    )
    (bundle,) = find(directory)
    return bundle


def sound(directory: Path) -> Path:
    capture(lambda: torch.exp(torch.ones(3)), directory, ops="torch.exp")
    (bundle,) = find(directory)
    return bundle


def test_a_crash_is_the_verdict_and_the_other_bundles_are_replayed(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    bad = trusting_backward(tmp_path / "all" / "1")
    sound(tmp_path / "all" / "2")
    assert replay(tmp_path / "all") == 1
    said = capfd.readouterr().out
    crash = (
        "it crashed with SIGSEGV while it was running aten.max_pool2d_with_indices_backward.default"
    )
    assert f"{bad}: {crash}\n" in said
    assert re.search(r"torch\.exp +float32\[3\]", said)


def test_a_check_in_a_child_has_its_references(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """References import many torch modules, which write files."""
    x = torch.randn(4, 4, requires_grad=True)
    linear = torch.nn.functional.linear
    capture(lambda: linear(x, x).sum().backward(), tmp_path, ops="torch.nn.functional.linear")
    assert replay(tmp_path, "--check") == 0
    _, row, *rest = capfd.readouterr().out.splitlines()
    assert not rest
    assert re.fullmatch(r"\d+ +torch\.nn\.functional\.linear +ok +[\d.]+ +[\d.]+", row)


def test_a_call_without_an_end_is_stopped(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    bad = endless(tmp_path)
    assert replay(tmp_path, "--timeout", "1") == 1
    said = capfd.readouterr().out
    name = "torch.special.legendre_polynomial_p"
    assert f"{bad}: it takes longer than 1 s (--timeout), while it was running {name}\n" in said


def test_a_huge_result_is_over_the_limit(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A document may describe four numbers, but request a tebibyte."""
    bad = huge_factory(tmp_path)
    assert replay(tmp_path, "--memory-limit", "1G") == 1
    assert f"{bad}: it needs more than 1 GiB of memory (--memory-limit)" in capfd.readouterr().out


def test_flags_that_switch_checks_off_are_refused(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    bundle = segments(tmp_path / "unsafe", unsafe=True)
    assert replay(bundle) == 2
    said = capfd.readouterr()
    reason = "unsafe=True makes aten.segment_reduce.default bypass torch's checks"
    assert reason in said.err and not said.out
    assert command(BUNDLE, "to-repro", bundle, tmp_path / "repro.py") == 2
    assert not (tmp_path / "repro.py").exists()
    # Showing it is safe.
    assert command(BUNDLE, "show", bundle) == 0
    assert replay(bundle, "--trusted", "--check") == 0
    assert replay(segments(tmp_path / "safe", unsafe=False), "--trusted") == 0


def test_a_storage_that_no_piece_fills_is_refused(tmp_path: Path) -> None:
    """The bundle has a few kilobytes, but would take four gibibytes in memory."""
    bundle = sound(tmp_path)
    forge(bundle, lambda d: d["storages"][0].update(nbytes=1 << 32, pieces=[]))
    assert (bundle / "bundle.json").stat().st_size < 8192
    with pytest.raises(BundleError, match="has 4294967296 bytes, its pieces end after 0"):
        read(bundle)


def test_memory_is_computed_before_the_work_begins(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    capture(lambda: torch.exp(torch.ones(MEBIBYTE)), tmp_path, ops="torch.exp")
    (bundle,) = find(tmp_path)
    document = read(bundle).document
    needs = [memory_needed(document, use) for use in (Use.READ, Use.RUN, Use.CHECK)]
    # Argument, result and one payload; copies of both and the new result; both in float64.
    assert needs == [12 * MEBIBYTE, 20 * MEBIBYTE, 68 * MEBIBYTE]
    for use, need in zip(Use, needs, strict=True):
        read(bundle, limit=need, use=use)
        with pytest.raises(BundleError, match=rf"to {use.value} it takes .* \(--memory-limit\)"):
            read(bundle, limit=need - 1, use=use)
    assert replay(bundle, "--check", "--memory-limit", "60M") == 2
    assert "to check it takes 68 MiB of memory, the limit is 60 MiB" in capfd.readouterr().err
    assert command(BUNDLE, "show", bundle, "--memory-limit", "10M") == 2
    assert "to read it takes 12 MiB" in capfd.readouterr().err
    assert run_op_from_data.main([str(bundle), "--memory_limit", "10M"]) == 2


@pytest.mark.parametrize("devices", [False, True])
def test_a_child_holds_to_its_limits(devices: bool, tmp_path: Path) -> None:
    """Limits on files, core dumps, memory and processor time, in a process of their own."""
    script = f"""
import errno, resource, signal
from dl_optools.isolation.limits import Limits, allow_time, confine
kept = open({str(tmp_path / "kept")!r}, "wb", buffering=0)
confine(Limits(memory=64 << 20, seconds=100), writes=False, devices={devices})
try:
    kept.write(b"x")
except OSError as error:
    assert error.errno == errno.EFBIG
else:
    raise SystemExit("it wrote a file")
bytearray(16 << 20)
try:
    bytearray(65 << 20)
except MemoryError:
    pass
else:
    raise SystemExit("it took too much")
import mmap
try:
    # Address space as a driver reserves it, without memory.
    mmap.mmap(-1, 128 << 20, flags=mmap.MAP_SHARED | mmap.MAP_ANONYMOUS)
except OSError:
    assert not {devices}
else:
    assert {devices}
# With 0 the kernel would still pipe a core dump to a program.
assert resource.getrlimit(resource.RLIMIT_CORE) == (1, 1)
allow_time(Limits(memory=1, seconds=0.5))
assert 0 < resource.getrlimit(resource.RLIMIT_CPU)[0] < 1000
print("held")
"""
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, env=environ
    )
    assert (done.returncode, done.stdout) == (0, "held\n"), done.stderr


def test_text_of_a_bundle_does_not_steer_the_terminal(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    bundle = sound(tmp_path)
    forge(bundle, lambda d: d.update(error="\x1b[2J\x07", software={"\x1b]0;x\x07": "1"}))
    assert command(BUNDLE, "show", bundle) == 0
    said = capfd.readouterr()
    assert "\x1b" not in said.out + said.err and r"it raised \x1b[2J\x07" in said.out


@pytest.mark.parametrize(
    "change",
    [
        {"code": 7},
        {"code": True},
        {"lines": "text"},
        {"rows": [["a", 1]]},
        {"rows": 3},
        {"more": []},
    ],
)
def test_answers_of_a_child_are_checked(change: Document) -> None:
    """Messages of a child that a bundle may control are not trusted."""
    whole = Answer(rows=[["a"]], lines=["b"], errors=["c"], code=1)
    assert Answer.read(json.loads(json.dumps(whole.as_json()))) == whole
    with pytest.raises(ValueError, match="it"):
        Answer.read({**whole.as_json(), **change})


@pytest.mark.parametrize(
    ("group", "names"),
    [("0::/a/b", ("max", "current")), ("5:memory:/a/b", ("limit_in_bytes", "usage_in_bytes"))],
)
def test_memory_that_is_free_is_that_of_the_tightest_group(
    group: str, names: tuple[str, str], tmp_path: Path
) -> None:
    (tmp_path / "self").mkdir()
    (tmp_path / "meminfo").write_text("MemFree:  1 kB\nMemAvailable:  1000 kB\n")
    (tmp_path / "self" / "cgroup").write_text(f"1:cpu:/other\n{group}\n")
    root = tmp_path / "groups"
    top = root / "memory" if "memory" in group else root
    (top / "a" / "b").mkdir(parents=True)

    def limit(place: Path, most: str, used: int) -> int:
        (place / f"memory.{names[0]}").write_text(f"{most}\n")
        (place / f"memory.{names[1]}").write_text(f"{used}\n")
        return free_memory(tmp_path, root)

    assert free_memory(tmp_path, root) == 1_024_000
    assert limit(top / "a" / "b", "max", 5) == 1_024_000
    assert limit(top / "a", "9000", 4000) == 5000
    (top / "a" / "memory.stat").write_text("active_file 7\ninactive_file 100\n")
    assert free_memory(tmp_path, root) == 5100
    assert limit(top / "a" / "b", "100", 40) == 60
    assert 0 < default_memory() < free_memory()


def test_limits_that_make_no_sense_are_refused(capfd: pytest.CaptureFixture[str]) -> None:
    for option, value in (("--memory-limit", "much"), ("--memory-limit", ""), ("--timeout", "0")):
        with pytest.raises(SystemExit, match="2"):
            replay("bundle", option, value)
        assert option in capfd.readouterr().err
