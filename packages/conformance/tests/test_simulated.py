"""Runs over a simulated driver need a vendor with one, and are marked in every report."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dl_conformance import target as targets
from dl_conformance.earlier import Earlier
from dl_conformance.options import add_options, add_targets, target_of
from dl_conformance.page import name_of
from dl_conformance.report_file import ReportError, read_report
from dl_conformance.results import Results
from dl_conformance.target import Target, TargetError, of_vendor, way_out

VARIABLE = "DL_TEST_SIMULATED_DRIVER"


def options(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_targets(parser.add_argument)
    add_options(parser.add_argument)
    return parser.parse_args(arguments)


def missing() -> dict[str, str]:
    raise RuntimeError("the simulator is not installed: `pip install it`")


@pytest.fixture
def vendors(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Install vendors that are the reference vendor's library under other names."""
    library = of_vendor("cpu")[0].library
    simulators = {"toy": lambda: {VARIABLE: "here"}, "lacking": missing, "none": None}

    class Manager:
        @classmethod
        def of_environment(cls) -> Manager:
            return cls()

        def load(self) -> None:
            pass

        def added_operators(self) -> list[Any]:
            return []

        def vendors(self) -> list[Any]:
            record = SimpleNamespace(module="dl_vendor_cpu.plugin")
            common = {"library": library, "legacy": False, "adaptor": None, "runtime": None}
            return [
                (record, SimpleNamespace(name=name, simulated=simulated, **common))
                for name, simulated in simulators.items()
            ]

    monkeypatch.setattr("dl_core.manager.PluginManager", Manager)
    return simulators


def test_its_variables_are_there_when_the_library_is_loaded(
    vendors: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "before")
    target, _ = target_of(options("--vendor", "toy", "--simulate"))
    assert target.simulated == {VARIABLE: "here"}
    monkeypatch.setattr(targets, "load_vendor", lambda *_, **__: os.environ[VARIABLE])
    assert Target(**{**target.as_dict(), "guarded": False}).load() == "here"  # type: ignore[comparison-overlap]
    assert target_of(options("--vendor", "toy"))[0].simulated is None


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("--vendor", "none"), "vendor none has no simulated driver"),
        (("--vendor", "lacking"), "the simulator is not installed: `pip install it`"),
        (("--library", "libmine.so"), "name one with --vendor"),
    ],
)
def test_there_may_be_none(vendors: dict[str, Any], asked: tuple[str, ...], said: str) -> None:
    with pytest.raises(TargetError, match=said):
        target_of(options("--simulate", *asked))


def test_a_missing_device_is_reported(vendors: dict[str, Any]) -> None:
    assert "\n--simulate runs the cases" in way_out("toy", simulate=False)
    assert "the simulator is not installed: `pip install it`" in way_out("lacking", simulate=False)
    # No advice if there is no vendor, no simulator, or --simulate is given already.
    assert way_out("none", simulate=False) == way_out("toy", simulate=True) == ""
    assert way_out(None, simulate=False) == ""


def test_reports_say_so(tmp_path: Path) -> None:
    about = {"name": "toy", "version": "1", "simulated": {VARIABLE: "here"}}
    results = Results()
    assert results.text(about, 1).startswith("toy 1, simulated: 0 cases")
    assert 'name="dl-conformance toy 1, simulated"' in results.junit(about, 1)
    assert name_of({"vendor": about}) == "toy 1, simulated"
    assert name_of({"vendor": {**about, "simulated": None}}) == "toy 1"
    restricted = {**about, "status": "experimental"}
    assert results.text(restricted, 1).startswith("toy 1, simulated, experimental: 0 cases")
    assert name_of({"vendor": restricted}) == "toy 1, simulated, experimental"
    # The report that --rerun-failed, --resume and --reports read.
    file = tmp_path / "report.json"
    for simulated in (about["simulated"], None):
        file.write_text(results.json({**about, "simulated": simulated}, 1))
        assert read_report(file)["vendor"]["simulated"] == simulated


def test_outcomes_of_a_device_and_of_a_simulator_are_not_mixed() -> None:
    library = str(Path("/there/libtoy.so"))
    earlier = Earlier(Path("report.json"), "1", {"library": library}, 0.0, [])
    earlier.check_library(Target("toy", library))
    with pytest.raises(ReportError, match=r"report of a real device; omit --simulate"):
        earlier.check_library(Target("toy", library, simulated={VARIABLE: "here"}))
