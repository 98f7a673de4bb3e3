"""Each documented item of the replaced systems has a state, and a test that exists if it works."""

from __future__ import annotations

import re
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from tools.documented_items import PAGE, STATES, items, page  # noqa: E402


@cache
def defined_tests(file: str) -> frozenset[str]:
    text = (ROOT / file).read_text("utf-8")
    return frozenset(re.findall(r"^(?:async )?def (test_\w+)", text, re.MULTILINE))


def test_items_are_numbered_without_gaps() -> None:
    assert [item.number for item in items()] == list(range(1, 250))


def test_items_have_a_known_state_and_a_note() -> None:
    assert all(item.state in STATES and item.name and item.note for item in items())


def test_what_works_has_a_test_that_exists() -> None:
    for item in items():
        if item.state == "works":
            file, _, name = item.note.partition("::")
            assert name in defined_tests(file), f"{item.number}: {item.note}"


def test_the_page_is_generated_from_the_data() -> None:
    assert PAGE.read_text("utf-8") == page(items()), "run python -m tools.documented_items"
