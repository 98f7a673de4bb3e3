"""The engine ``capture``: device graphs if the vendor supports them, the executor otherwise."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
import torch

from dl_dicp import statistics
from dl_dicp.engines import names
from dl_dicp.engines.device_graph import captured_program, input_stability
from dl_dicp.engines.device_graph import engine as device_graph_engine
from dl_dicp.engines.device_graph.copies import Outputs, once_each
from dl_dicp.reports.explain import explain

pytest.importorskip("dl_vendor_async_test")

import capture_process

SECONDS = 200


def outcomes(names: list[str], **variables: str) -> dict[str, str]:
    """Run cases in a process with the vendor ``async``; return their errors."""
    done = subprocess.run(
        [sys.executable, str(Path(capture_process.__file__)), *names],
        env={**os.environ, "DL_VENDORS": "async", **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )
    assert done.returncode == 0, done.stderr or done.stdout
    return dict(json.loads(done.stdout))


@pytest.fixture(scope="module")
def failures() -> dict[str, str]:
    return outcomes(list(capture_process.CASES))


@pytest.fixture(scope="module")
def failures_of_a_liar() -> dict[str, str]:
    lie = "replay_skips_the_last_node"
    return outcomes(list(capture_process.LIES), DL_ASYNC_TEST_LIE=lie)


@pytest.mark.parametrize("name", capture_process.CASES)
def test_on_a_vendor_that_captures(failures: dict[str, str], name: str) -> None:
    assert failures[name] == ""


@pytest.mark.parametrize("name", capture_process.LIES)
def test_on_a_vendor_whose_replays_are_wrong(failures_of_a_liar: dict[str, str], name: str) -> None:
    assert failures_of_a_liar[name] == ""


def test_nothing_is_captured_while_memory_is_checked() -> None:
    (name,) = capture_process.CHECKS
    assert outcomes([name], DL_MEM_CHECK="1") == {name: ""}


@pytest.fixture
def warned() -> None:
    captured_program.forget_warning()


def chain(x: torch.Tensor) -> torch.Tensor:
    return (x * 2).sin().exp()


@pytest.mark.usefixtures("warned")
def test_a_vendor_without_graphs_is_reported_once() -> None:
    def other(x: torch.Tensor) -> torch.Tensor:
        return x.exp() + x

    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for function in (chain, other):
            compiled = torch.compile(function, backend="dl", options={"engine": "capture"})
            for _ in range(4):
                x = torch.randn(8, device="dl")
                assert torch.allclose(compiled(x), function(x), rtol=0, atol=1e-6)
    why = "the vendor cpu has no graph extension"
    (warning,) = [x for x in said if issubclass(x.category, RuntimeWarning)]
    assert why in str(warning.message)
    assert statistics.dropped == {("capture", why): 2} and not statistics.engine_runs
    assert statistics.graphs == 6 and not statistics.eager
    assert explain().count(f"no graph engine capture: {why}") == 2


def as_if_the_vendor_captured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_graph_engine, "why_not", lambda _: "")


@pytest.mark.filterwarnings("error")
def test_random_numbers_are_drawn_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    as_if_the_vendor_captured(monkeypatch)

    def function(x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.dropout(x.exp(), 0.5) * 2

    compiled = torch.compile(function, backend="dl", options={"engine": "capture"})
    x = torch.randn(64, device="dl")
    made = []
    for run in (compiled, function):
        torch.manual_seed(3)
        made.append([run(x) for _ in range(5)])
    assert all(torch.equal(a, b) for a, b in zip(*made, strict=True))
    ((_, why),) = statistics.dropped
    assert "random numbers" in why and f"not captured, because {why}" in explain()


@pytest.mark.filterwarnings("error")
def test_one_call_is_not_captured(monkeypatch: pytest.MonkeyPatch) -> None:
    as_if_the_vendor_captured(monkeypatch)
    compiled = torch.compile(torch.exp, backend="dl", options={"engine": "capture"})
    for _ in range(4):
        compiled(torch.randn(8, device="dl"))
    assert "not captured, because it has only one call" in explain()


def test_it_is_an_engine_that_no_plugin_can_replace() -> None:
    assert "capture" in names.names() and names.is_known("capture")
    assert "capture" not in names.contributed()


def test_transient_inputs_are_recognized_by_freed_memory() -> None:
    known = input_stability.InputStability()
    parameter, kept = torch.ones(2), []
    assert not known.observe([parameter, torch.ones(2)], [0, 1])
    assert known.observe([parameter, torch.ones(2)], [0, 1])
    assert known.transient == {1}
    # An input that stays alive may be one of several parameters, which alternate.
    known = input_stability.InputStability()
    for _ in range(3):
        kept.append(torch.ones(2))
        assert not known.observe([kept[-1]], [0])
    assert known.observe([kept[0]], [0]) and not known.transient
    for _ in range(input_stability.PATIENCE - 3):
        kept.append(torch.ones(2))
        assert not known.observe([kept[-1]], [0])
    kept.append(torch.ones(2))
    assert known.observe([kept[-1]], [0]) and known.transient == {0}


@pytest.mark.parametrize(
    "tensor",
    [
        torch.arange(6.0).view(2, 3),
        torch.arange(6.0).view(2, 3).t(),
        torch.arange(24.0).view(4, 6)[1:3, ::2],
        torch.arange(6.0)[2:],
        torch.ones(()),
        torch.ones(0, 3),
        torch.arange(3.0).expand(2, 3),
    ],
    ids=lambda tensor: f"{tuple(tensor.shape)}-{tensor.stride()}-{tensor.storage_offset()}",
)
def test_copies_lie_as_what_they_are_of(tensor: torch.Tensor) -> None:
    outputs = Outputs([tensor])
    (made,) = outputs.copied(outputs.memory())
    assert torch.equal(made, tensor) and made.stride() == tensor.stride()
    assert made.storage_offset() == tensor.storage_offset() or not tensor.numel()
    assert made.untyped_storage()._cdata != tensor.untyped_storage()._cdata
    assert once_each(tensor).unique().equal(tensor.unique())
