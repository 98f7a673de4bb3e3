"""The file of ``dl doctor --report``: complete enough to reproduce, and without private data."""

from __future__ import annotations

import getpass
import socket
from pathlib import Path

import pytest

from dl_core import cli
from dl_core.bug_report import compose, without_names
from dl_core.errors import OutputError

PRIVATE = {
    "HOME": "/home/some-person",
    "AWS_SECRET_ACCESS_KEY": "private-1",
    "DL_HUB_TOKEN": "private-2",
    "EDITOR": "private-3",
    "DL_VENDORS": "cpu",
    "CUDA_VISIBLE_DEVICES": "0,1",
    "LD_LIBRARY_PATH": "/home/some-person/lib:/opt/lib",
    "DL_INDEX": "https://name:private-4@index.example/simple",
}


def test_a_report_has_what_a_maintainer_asks_for() -> None:
    text = compose("Vendor cpu\n  device 0", PRIVATE)
    for part in ("Vendor cpu", "dl-core 0.", "processors: ", "DL_VENDORS=cpu", "numpy "):
        assert part in text
    assert "CUDA_VISIBLE_DEVICES=0,1" in text


def test_a_report_has_no_secrets_and_no_home_folder() -> None:
    text = compose("library /home/some-person/dl.so", PRIVATE)
    for private in ("private-1", "private-2", "private-3", "private-4", "some-person"):
        assert private not in text
    assert "DL_HUB_TOKEN=<not shown>" in text
    assert "library ~/dl.so" in text and "LD_LIBRARY_PATH=~/lib:/opt/lib" in text
    assert "https://<login>@index.example/simple" in text


def test_names_are_replaced_as_whole_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(getpass, "getuser", lambda: "ann")
    monkeypatch.setattr(socket, "gethostname", lambda: "node-17")
    told = without_names("ann on node-17: announced /data/ann/x, node-170", {})
    assert told == "<user> on <machine>: announced /data/<user>/x, node-170"


def test_a_user_without_a_name_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def find_no_entry() -> str:
        raise OSError("no entry for this user")

    monkeypatch.setattr(getpass, "getuser", find_no_entry)
    assert without_names("text", {}) == "text"


def test_text_of_plugins_cannot_leave_its_block() -> None:
    text = compose("```\n# heading\x1b[2J", {})
    assert "\n# heading" not in text and "\x1b" not in text


def test_doctor_writes_the_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "report.md"
    cli.main(["doctor", "--report", str(file)])
    assert "read it before you send it" in capsys.readouterr().out
    text = file.read_text()
    assert text.startswith("# Report of dl doctor\n") and "Visible devices" in text


def test_doctor_keeps_an_existing_file(tmp_path: Path) -> None:
    file = tmp_path / "report.md"
    file.write_text("mine")
    with pytest.raises(OutputError, match="--force replaces it"):
        cli.main(["doctor", "--report", str(file)])
    assert file.read_text() == "mine"
    cli.main(["doctor", "--report", str(file), "--force"])
    assert file.read_text() != "mine"
