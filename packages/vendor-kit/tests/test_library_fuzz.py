"""Random damage to a description leads to findings or to generated files, and to nothing else."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from library_damage import damage, outcome, write_template

CASES = 30
"""Cases of each seed; the session ``fuzz`` runs more."""


def test_undamaged_template_is_accepted(tmp_path: Path) -> None:
    folder = tmp_path / "library"
    write_template(folder)
    assert outcome(folder) == "accepted"


@pytest.mark.parametrize("seed", range(6))
def test_damage_leads_to_findings(tmp_path: Path, seed: int) -> None:
    seen = Counter[str]()
    for case in range(CASES):
        folder = tmp_path / str(case) / "library"
        write_template(folder)
        damage(random.Random(f"{seed} {case}"), folder)
        try:
            seen[outcome(folder)] += 1
        except BaseException:
            # The description stays for the investigation.
            print(f"seed {seed}, case {case}: {folder}")
            raise
    assert seen["accepted"] + seen["refused"] == CASES and len(seen) == 2
