from __future__ import annotations

import json
from pathlib import Path

import pytest
from stub_wheels import Wheels
from test_cli import dl

from dl_core import cli, coverage
from dl_core.coverage import KINDS, TIERS, required_overloads, sort_out

REQUIRED = {"add.out": "A", "stack": "A", "erf.out": "A", "cholesky": "B", "to_sparse": "C"}


def test_each_overload_is_counted_once() -> None:
    found = sort_out("dl:0", "x", REQUIRED, {"add.out", "stack", "other"}, {"stack", "erf.out"})
    assert found.overloads["A"] == {
        "native": ("add.out", "stack"),
        "composed": ("erf.out",),
        "fallback": (),
        "unsupported": (),
    }
    assert found.overloads["B"]["fallback"] == ("cholesky",)
    assert found.overloads["C"]["unsupported"] == ("to_sparse",)
    assert found.percent("A", "native") == pytest.approx(200 / 3)
    total = sum(found.count(tier, kind) for tier in TIERS for kind in KINDS)
    assert total == len(REQUIRED)


def test_empty_tier_has_no_share() -> None:
    assert sort_out("dl:0", "x", {}, set(), set()).percent("A", "native") == 0


def test_list_of_overloads_is_in_the_package() -> None:
    required = required_overloads()
    assert set(required.values()) == set(TIERS)
    assert required["convolution"] == "A"
    assert required["linalg_eig"] == "B"
    assert required["_to_sparse"] == "C"
    assert len(required) > 800
    # These overloads serve torch's tests, or files.
    assert not [name for name in required if name.startswith(("_test_", "_foobar", "from_file"))]


def test_without_torch_the_command_says_so(wheels: Wheels) -> None:
    done = dl(wheels, "coverage")
    assert done.returncode == 1
    assert "torch is needed" in done.stderr and "dl doctor" in done.stderr


def test_counts_lists_and_json(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    device = sort_out("dl:0", "fake", REQUIRED, {"add.out"}, {"stack"})
    monkeypatch.setattr("dl_core.commands_coverage.measure", lambda: [device])
    assert cli.main(["coverage", "--tier", "A"]) == 0
    text = capsys.readouterr().out
    assert "dl:0 (fake)" in text and "1 (33.3 %)" in text and "\nB" not in text
    file = tmp_path / "coverage.json"
    assert cli.main(["coverage", "--list", "fallback", "--json", str(file)]) == 0
    assert "  erf.out\n" in capsys.readouterr().out
    tiers = json.loads(file.read_text())["devices"][0]["tiers"]
    assert tiers["A"]["composed"] == {"count": 1, "percent": 33.33, "overloads": ["stack"]}


def test_fallbacks_name_the_operators_that_the_vendor_lacks(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    operators = {"erf.out": ["diopiErf"], "stack": ["diopiStack"], "cholesky": ["dlopA", "dlopB"]}
    device = sort_out("dl:0", "fake", REQUIRED, {"add.out"}, {"stack"}, operators=operators)
    assert device.needs == {"erf.out": ("diopiErf",), "cholesky": ("dlopA", "dlopB")}
    assert device.lacking(["A"]) == {"diopiErf": {"erf.out"}}
    monkeypatch.setattr("dl_core.commands_coverage.measure", lambda: [device])
    file = tmp_path / "coverage.json"
    assert cli.main(["coverage", "--list", "fallback", "--json", str(file)]) == 0
    text = capsys.readouterr().out
    assert "  erf.out: vendor fake has no diopiErf\n" in text
    assert "  cholesky: vendor fake has no dlopA or dlopB\n" in text
    needs = json.loads(file.read_text())["devices"][0]["needs"]
    assert needs == {"erf.out": ["diopiErf"], "cholesky": ["dlopA", "dlopB"]}
    assert cli.main(["coverage"]) == 0
    assert "2 operators of the contract would make 2 of the fallbacks" in capsys.readouterr().out


def test_a_missing_device_is_reported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("dl_core.commands_coverage.measure", list)
    assert cli.main(["coverage"]) == 0
    assert "dl doctor" in capsys.readouterr().out


def test_visible_devices_are_measured() -> None:
    torch = pytest.importorskip("torch")
    if not hasattr(torch, "dl") or not torch.dl.is_available():
        pytest.skip("no vendor is installed here")
    found = coverage.measure()
    assert [device.device for device in found] == [
        f"dl:{index}" for index in range(torch.dl.device_count())
    ]
    for device in found:
        assert sum(device.count(tier, kind) for tier in TIERS for kind in KINDS) > 800
