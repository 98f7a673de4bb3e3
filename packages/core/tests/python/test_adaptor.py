"""The adaptor file that a vendor's description names, without torch and without the vendor."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from stub_wheels import Wheels
from test_cli import dl

from diopi_proto.descriptor import VendorDescriptor
from dl_core import cli, descriptors
from dl_core.coverage import sort_out
from dl_core.errors import PluginError, UntrustedError

FILE = "version: 1\noperators:\n  diopiAdd: {cast: {int64: int32}}\n"


def make_descriptor(**fields: Any) -> VendorDescriptor:
    return VendorDescriptor("x", Path(__file__), "1", **fields)


def test_the_description_may_name_a_file() -> None:
    assert descriptors.validate(make_descriptor()).adaptor is None
    path = Path(__file__).with_name("conftest.py")
    assert descriptors.validate(make_descriptor(adaptor=str(path))).adaptor == path


def test_what_is_no_file_for_this_library_is_refused() -> None:
    with pytest.raises(PluginError, match="adaptor=5, which must be a path"):
        descriptors.validate(make_descriptor(adaptor=5))
    with pytest.raises(PluginError, match="libraries in DIOPI's own style have no adaptor"):
        descriptors.validate(make_descriptor(adaptor=Path(__file__), legacy=True))
    with pytest.raises(UntrustedError, match=r"its adaptor file a\.yaml is not read"):
        descriptors.validate(make_descriptor(adaptor="a.yaml"))


def test_doctor_tells_what_is_wrong_with_the_file(wheels: Wheels) -> None:
    library, file = wheels.root / "lib.so", wheels.root / "adaptor.yaml"
    library.write_bytes(b"")
    file.write_text(FILE.replace("diopiAdd", "diopiAdz"), encoding="utf-8")
    wheels.add_vendor(
        "dl-vendor-x", name="x", library=f"Path({str(library)!r})", adaptor=f"Path({str(file)!r})"
    )
    done = dl(wheels, "doctor", "--json")
    assert done.returncode == 1, done.stderr
    report = json.loads(done.stdout)
    (vendor,) = report["vendors"]
    assert vendor["adaptor"] == str(file)
    assert f"{file}:3: operators.diopiAdz: the contract has no such operator" in vendor["error"]
    assert any("pip install --force-reinstall" in problem for problem in report["problems"])


def test_coverage_says_that_operators_are_converted_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    device = sort_out("dl:0", "x", {"add.out": "A"}, {"add.out"}, set(), "a.yaml: int64→int32")
    monkeypatch.setattr("dl_core.commands_coverage.measure", lambda: [device])
    assert cli.main(["coverage"]) == 0
    printed = capsys.readouterr().out
    assert "adaptor for arguments of some native operators: a.yaml: int64→int32" in printed
    assert device.as_json()["adaptor"] == "a.yaml: int64→int32"
