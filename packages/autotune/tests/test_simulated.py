"""Results of simulated devices are labelled, and never mix with those of real devices."""

from __future__ import annotations

import argparse
from pathlib import Path
from types import SimpleNamespace

import pytest

from diopi_proto.descriptor import VendorDescriptor
from dl_autotune.command import _result, configure, run
from dl_autotune.observers import Claim, Interval, Verdict
from dl_autotune.operators.command import format_call
from dl_autotune.runners.database import Database, StoredChoice, StoredTrial, Study
from dl_autotune.runners.plan import Tuned
from dl_autotune.toolchains import kernel_extension
from dl_autotune.toolchains.kernel_extension import KernelExtension
from dl_core.simulation import mark_simulated
from dl_core.tuned_choices import read_layers

TRIAL = StoredTrial({"tile": 8}, "correct", "", 1.25, 1.2, 1.3, (5e-3, 5e-3), (4e-3, 4e-3))
DEVICE = "gpu 1, H100, driver 5"


def tune(*words: str) -> int:
    parser = argparse.ArgumentParser()
    configure(parser)
    return run(parser.parse_args(list(words)))


def identity_of(monkeypatch: pytest.MonkeyPatch, driver: str) -> dict[str, str]:
    """Return the identity of a device behind a driver; /sim.so is the simulated one."""
    monkeypatch.setenv("GPU_DRIVER", driver)
    described = VendorDescriptor(
        name="gpu",
        library=Path("/vendor.so"),
        version="1",
        simulated=lambda: {"GPU_DRIVER": "/sim.so"},
    )
    properties = SimpleNamespace(unavailable="", architecture="sm_90", compiler="nvrtc")
    vendor = SimpleNamespace(
        extensions=("kernel",),
        device_count=1,
        kernels=SimpleNamespace(properties=lambda device: properties),
        properties=lambda device: SimpleNamespace(name="H100"),
    )
    monkeypatch.setattr(kernel_extension, "descriptor_of", lambda name: described)
    monkeypatch.setattr(kernel_extension, "load_vendor", lambda library: vendor)
    return dict(KernelExtension("gpu").identity())


def test_a_simulated_device_has_studies_of_its_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "t.sqlite"
    database = Database(path)
    kernel = {"kernel": "gemm.cu", "function": "gemm"}
    real = database.study({**kernel, **identity_of(monkeypatch, "/usr/lib/libcuda.so")})
    simulated = database.study({**kernel, **identity_of(monkeypatch, "/sim.so")})
    database.record(simulated, TRIAL)
    assert real.identity["device"] == "H100"
    assert simulated.identity["device"] == "H100 (simulated)"
    assert (real.simulated, simulated.simulated) == (False, True)
    assert real.key != simulated.key
    assert database.trials(real) == []
    assert tune("show", "--database", str(path)) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert "on gpu 1, 0 trials" in first
    assert "on gpu 1 (simulated), 1 trials" in second


@pytest.mark.parametrize("simulated", [True, False])
def test_results_of_kernels_say_that_they_are_simulated(tmp_path: Path, simulated: bool) -> None:
    database = Database(tmp_path / "t.sqlite")
    device = mark_simulated("H100") if simulated else "H100"
    study = database.study({"kernel": "gemm.cu", "device": device})
    claim = Claim(Verdict.NO_WINNER, Interval(1.333, 0.9, 1.7))
    said = _result(Tuned(study, {"tile": 8}, claim, 1), {"tile": 4}, database)
    assert ("note    simulated: the times are those of a simulator" in said) == simulated


def test_choices_of_a_simulated_device_are_not_used_on_a_real_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "t.sqlite"
    database = Database(path)
    entry = StoredChoice(mark_simulated(DEVICE), "gemm:1", "fast", "mm", 1.3, 1.2, 1.4)
    database.choose(entry)
    assert read_layers([("user", path)], DEVICE).choices == {}
    assert read_layers([("user", path)], mark_simulated(DEVICE)).choices == {"gemm:1": "fast"}
    assert tune("export-wheel", "h100", "--output", str(tmp_path), "--database", str(path)) != 0
    assert "no operator was tuned yet" in capsys.readouterr().err
    assert not list(tmp_path.glob("*.whl"))


def test_results_of_calls_say_that_they_are_simulated() -> None:
    found = SimpleNamespace(
        call="mm()", identity=mark_simulated(DEVICE), keys={}, refused=(), chosen={}, in_use=0.0
    )
    assert "note    simulated: the times" in format_call(found)  # type: ignore[arg-type]
    found.identity = DEVICE
    assert "simulated" not in format_call(found)  # type: ignore[arg-type]


def test_a_study_without_a_device_is_not_simulated() -> None:
    assert not Study(1, "a", {}, "now").simulated
