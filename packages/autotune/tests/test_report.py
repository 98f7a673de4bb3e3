"""The page of a study: its content, and the importance of parameters."""

from __future__ import annotations

import itertools
import math
import re
from html.parser import HTMLParser

import pytest

from dl_autotune.report import study_page
from dl_autotune.report.importance import importance
from dl_autotune.runners.database import StoredClaim, StoredTrial, Study

STUDY = Study(1, "0123456789ab", {"kernel": "k.cpp", "function": "f", "shape": {"n": 3}}, "today")


def trial(config: dict[str, int | str], ratio: float) -> StoredTrial:
    times = (1e-3 * ratio, 1.1e-3 * ratio), (1e-3, 1.1e-3)
    return StoredTrial(config, "correct", "", ratio, 0.9 * ratio, 1.1 * ratio, *times)


def trials(interaction: float) -> list[StoredTrial]:
    """Create trials whose speed depends on `a` alone, and on whether `b` equals `c`."""
    return [
        trial({"a": a, "b": b, "c": c, "idle": d}, math.exp(a + interaction * (b == c)))
        for a, b, c, d in itertools.product((0, 1, 2), (0, 1), (0, 1), (0, 1, 2))
    ]


def test_important_parameters_are_found() -> None:
    found = importance(trials(0.0))
    assert found is not None
    assert next(iter(found.alone)) == "a"
    assert found.alone["a"] > 0.9
    assert found.alone["idle"] < 0.05
    assert found.explained > 0.7
    assert found.pairs[0].share < 0.05


def test_an_interaction_is_distinguished_from_its_parameters() -> None:
    found = importance(trials(2.0))
    assert found is not None
    pair = found.pairs[0]
    assert set(pair.names) == {"b", "c"}
    assert pair.share > 0.3
    assert max(found.alone["b"], found.alone["c"]) < 0.1
    assert pair.ratios[0, 0] > 3 * pair.ratios[0, 1]


@pytest.mark.parametrize("count", [0, 11])
def test_too_few_trials_say_nothing(count: int) -> None:
    assert importance(trials(1.0)[:count]) is None


def test_trials_that_are_all_alike_say_nothing() -> None:
    assert importance([trial({"a": 1}, 1.0)] * 20) is None
    assert importance([trial({"a": at}, 1.0) for at in range(20)]) is None


class Elements(HTMLParser):
    """Parser that checks that every element is closed, and that nothing is fetched."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert not {"src", "href"} & {name for name, _ in attrs}
        if tag not in ("meta", "input", "wbr"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Accept an element that closes itself."""

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def headings(text: str) -> list[str]:
    parser = Elements()
    parser.feed(text)
    assert parser.open == []
    return [x.replace("<wbr>", "") for x in re.findall("<h2>(.*?)</h2>", text)]


SECTIONS = ["Convergence", "Distribution", "Parameters", "Finalists", "Rejected", "Trials"]


def test_a_finished_study_has_all_its_sections() -> None:
    bad = StoredTrial({"a": 9, "b": 0, "c": 0, "idle": 0}, "compile", "<b>error</b> & more")
    claim = StoredClaim({"a": 2}, "faster", 1.5, 1.25, 1.75, 0.02, ((1.4, 1.6), (1.3, 1.7)))
    text = study_page(STUDY, [*trials(1.0), bad], claim)
    assert headings(text) == ["Verdict", *SECTIONS]
    assert "1.250 to 1.750" in text
    assert "&lt;b&gt;error&lt;/b&gt; &amp; more" in text
    assert "<b>error" not in text
    assert text.count("process 2") == 2 * 2  # a title and a label, for wide and for narrow windows


@pytest.mark.parametrize("there", [[], [StoredTrial({"a": 1}, "timeout", "no answer")]])
def test_a_study_without_times_is_a_page_too(there: list[StoredTrial]) -> None:
    text = study_page(STUDY, there, None)
    assert headings(text) == ["Verdict", "Rejected", "Trials"]
    assert "not finished" in text


def test_a_report_states_that_nothing_is_claimed() -> None:
    claim = StoredClaim({"a": 2}, "no significant winner", 1.0, 1.0, 1.0, 0.02, ())
    text = study_page(STUDY, trials(1.0)[:1], claim)
    assert "nothing is claimed" in text
    assert headings(text) == ["Verdict", *SECTIONS]
