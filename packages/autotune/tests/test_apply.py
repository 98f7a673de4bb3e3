"""``dl tune apply`` and ``report``: their output, and the calls that they refuse."""

from __future__ import annotations

import argparse
import hashlib
from pathlib import Path

import pytest

from dl_autotune.command import configure, run
from dl_autotune.runners.database import Database, StoredClaim, StoredTrial

SOURCE = "// k\nconstexpr int TILE = 8;  // tunable\n  using L = int;  // tunable: LAYOUT\n"
TUNED = "// k\nconstexpr int TILE = 16;  // tunable\n  using L = long;  // tunable: LAYOUT\n"
CONFIG = {"TILE": 16, "LAYOUT": "using L = long;"}


def tune(*words: str | Path) -> int:
    parser = argparse.ArgumentParser()
    configure(parser)
    return run(parser.parse_args(list(map(str, words))))


def study(path: Path, verdict: str | None) -> str:
    database = Database(path)
    digest = hashlib.sha256(SOURCE.encode()).hexdigest()
    made = database.study({"kernel": "k.cpp", "source": digest})
    database.record(made, StoredTrial(CONFIG, "correct", "", 2.0, 1.9, 2.1, (2.0,), (1.0,)))
    if verdict is not None:
        database.claim(made, StoredClaim(CONFIG, verdict, 2.0, 1.9, 2.1, 0.0, ((2.0, 2.0),)))
    database.close()
    return made.key


@pytest.mark.parametrize("elsewhere", [False, True])
def test_the_winner_is_written_and_the_source_can_be_tuned_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], elsewhere: bool
) -> None:
    path, source = tmp_path / "trials.sqlite", tmp_path / "k.cpp"
    source.write_text(SOURCE)
    output = tmp_path / "tuned.cpp" if elsewhere else source
    words = ("--output", output) if elsewhere else ()
    assert tune("apply", study(path, "faster"), source, *words, "--database", path) == 0
    assert output.read_text() == TUNED
    assert source.read_text() == (SOURCE if elsewhere else TUNED)
    if not elsewhere:  # applying the same values again changes nothing
        assert tune("apply", study(path, "faster"), source, "--database", path) == 0
        assert source.read_text() == TUNED
    assert f"{output}: TILE=16" in capsys.readouterr().out
    assert {each.name for each in tmp_path.iterdir()} >= {"k.cpp"}
    assert not list(tmp_path.glob(".k*"))


@pytest.mark.parametrize("again", [False, True])
def test_line_ends_stay_as_they_are(tmp_path: Path, again: bool) -> None:
    path, source = tmp_path / "trials.sqlite", tmp_path / "k.cpp"
    text, *rest = (TUNED if again else SOURCE).split("\n")
    # If `again`, only the line ends differ, which a comparison with universal newlines overlooks.
    source.write_bytes("\r\n".join([text, *rest[:-1], ""]).encode())
    assert tune("apply", study(path, "faster"), source, "--database", path) == 0
    assert source.read_bytes() == TUNED.replace("\n", "\r\n").encode()
    mixed = "\r".join(SOURCE.split("\n", 1)).encode()
    source.write_bytes(mixed)
    assert tune("apply", study(path, "faster"), source, "--database", path) == 0
    assert source.read_bytes() == "\r".join(TUNED.split("\n", 1)).encode()


@pytest.mark.parametrize(
    ("verdict", "text", "message"),
    [
        (None, SOURCE, "has nothing to apply: the search has not ended"),
        ("no significant winner", SOURCE, "nothing to apply: the verdict is: no significant"),
        ("slower", SOURCE, "nothing to apply: the verdict is: slower"),
        ("faster", SOURCE + "\n", "has changed since: tune it again"),
        ("faster", None, "cannot be read: "),
    ],
)
def test_invalid_values_are_not_applied(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    verdict: str | None,
    text: str | None,
    message: str,
) -> None:
    path, source = tmp_path / "trials.sqlite", tmp_path / "k.cpp"
    if text is not None:
        source.write_text(text)
    assert tune("apply", study(path, verdict), source, "--database", path) == 2
    assert message in capsys.readouterr().err
    assert text is None or source.read_text() == text


def test_an_operator_has_no_source(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "trials.sqlite"
    database = Database(path)
    made = database.study({"kernel": "operator", "function": "mm"})
    database.close()
    assert tune("apply", made.key, tmp_path / "k.cpp", "--database", path) == 2
    assert "tuned an operator, which has no source" in capsys.readouterr().err


def test_a_report_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, page = tmp_path / "trials.sqlite", tmp_path / "page.html"
    key = study(path, "faster")
    assert tune("report", key[:6], page, "--database", path) == 0
    assert page.read_text().startswith("<!doctype html>")
    assert tune("report", key, page, "--database", path) == 2
    assert "page.html exists; --force replaces it" in capsys.readouterr().err
    assert tune("report", key, page, "--force", "--database", path) == 0
