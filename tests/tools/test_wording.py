"""The check of wording finds each kind of lapse in prose, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.commit_messages import problems
from tools.wording import __main__ as wording
from tools.wording.rules import HELP, NAME, RULES

LAPSES = {
    "clause-opening": '"""Whether it is contiguous."""',
    "of-opening": '"""Of the rows, the first."""',
    "is-no": "# this is no tensor",
    "there-is": "# a vendor that there is",
    "of-it": "# the rest, some of it",
    "half": "# products of halves",
    "card": 'raise ValueError("no card was found")',
    "played": "# a driver that is played",
    "host-number": "# numbers of the host",
    "truth": "# a truth for each row",
    "place": "# the place of a row",
    "beside": "# beside the matrix",
    "lies": "# where the row lies in memory",
    "archaic": "# measured anew",
    "told": "# what is told of it here",
    "made-up": "# a made-up device",
    "nobody": "# nobody writes here",
    "house": "# rooms of the core",
    "none-of": 'raise ValueError("x is none of a, b")',
    "choices": 'raise ValueError("unknown engine; available are a, b")',
    "spare": "# an operator that would spare copies",
    "so-many": "# tensors with so many dimensions",
    "field-in-line": '"""Return the end. :param x: the start."""',
    "field-opening": '""":ivar size: the number of bytes."""',
    "cut-off": "# the kernels raise the",
}


def found_in(tmp_path: Path, name: str, source: str) -> set[str]:
    (tmp_path / name).write_text(source)
    return {finding.rule.name for finding in wording.check([name], tmp_path)}


def test_every_rule_has_a_lapse_here() -> None:
    assert set(LAPSES) == {rule.name for rule in RULES}


@pytest.mark.parametrize(("rule", "source"), LAPSES.items())
def test_each_lapse_is_found(rule: str, source: str, tmp_path: Path) -> None:
    assert rule in found_in(tmp_path, "a.py", source + "\n")
    comment = "// " + source.strip('#" ').removeprefix('raise ValueError("')
    assert rule in found_in(tmp_path, "a.cpp", comment + "\nint x;\n")


def test_code_is_not_text(tmp_path: Path) -> None:
    code = "beside = anew = nobody = 1\ncard(halves, truth)\n"
    assert found_in(tmp_path, "a.py", code) == set()
    assert found_in(tmp_path, "a.cpp", "int beside = anew + nobody(card);\n") == set()
    assert (
        found_in(tmp_path, "a.md", "Call `beside()`:\n\n```\nanew beside\n```\n    card\n") == set()
    )


def test_only_first_lines_open(tmp_path: Path) -> None:
    text = '"""Return the shape.\n\nWhich dimension is first depends on the layout.\n"""\n'
    assert found_in(tmp_path, "a.py", text) == set()
    assert found_in(tmp_path, "a.py", "# The order of rows,\n# which is fixed.\n# What\n") == set()
    assert found_in(tmp_path, "a.h", "/** What it is. */\nint x;\n") == {"clause-opening"}


def test_only_the_last_line_of_a_comment_can_be_cut_off(tmp_path: Path) -> None:
    whole = "# The length of a\n# row, which is the\n# last dimension.\n"
    assert found_in(tmp_path, "a.py", whole) == set()
    assert found_in(tmp_path, "a.py", whole.replace("# last dimension.\n", "x = 1\n")) == {
        "cut-off"
    }
    text = whole.replace("#", "//")
    assert found_in(tmp_path, "a.h", text) == set()
    assert found_in(tmp_path, "a.h", text.replace("// last dimension.", "int x;")) == {"cut-off"}
    assert found_in(tmp_path, "a.h", "int x;  // length of the\n        // row\n") == set()
    assert found_in(tmp_path, "a.h", "/* The length of\n * a row. */\n") == set()
    assert found_in(tmp_path, "a.py", '"""The length of\n\na\n"""\n') == set()


def test_names_and_help_texts_are_checked(tmp_path: Path) -> None:
    assert found_in(tmp_path, "a.py", "def told_by(x): ...\n") == {NAME.name}
    assert found_in(tmp_path, "a.py", "def format_report(x): ...\n") == set()
    assert found_in(tmp_path, "a.py", 'add("--seed", help="of the inputs")\n') == {HELP.name}
    assert found_in(tmp_path, "a.py", 'add("--seed", help="seed of the inputs")\n') == set()


def test_allowed_findings_need_a_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "allowed.txt"
    monkeypatch.setattr(wording, "ALLOWED", file)
    file.write_text("a.py | card | post card | a card of paper\n")
    assert found_in(tmp_path, "a.py", "# a post card\n") == set()
    assert found_in(tmp_path, "b.py", "# a post card\n") == {"card"}
    file.write_text("a.py | card | post card |  \n")
    with pytest.raises((SystemExit, ValueError)):
        wording.read_allowed(file)


@pytest.mark.parametrize(
    ("message", "problem"),
    [
        ("core: " + "x" * 70, "has 76 characters"),
        ("core: streams come back; kernels are fast", "several ideas"),
        ("core: recycle streams.", "full stop"),
        ("core: adds a pool of streams", "'adds' is not imperative"),
        ("core: fixed the pool", "'fixed' is not imperative"),
        ("core: recycle streams\nbecause", "no empty line"),
    ],
)
def test_commit_messages_that_break_a_rule_are_named(message: str, problem: str) -> None:
    assert any(problem in each for each in problems(message))
    assert problems("core: recycle streams\n\nEach used stream kept 2 MiB reserved.\n") == []
