"""Damaged descriptions of operator libraries, which the generator of dl-vendor-kit reads."""

from __future__ import annotations

import random
import shutil
import sys
from pathlib import Path

from .kind import Case, Kind, WrongError

_TESTS = Path(__file__).parents[2] / "packages" / "vendor-kit" / "tests"


def begin(folder: Path, own: Path) -> Case:
    # The kit's own tests use the same damage.
    sys.path.append(str(_TESTS))
    from library_damage import damage, outcome, write_template

    def case(choose: random.Random) -> str:
        description = own / "case" / "library"
        write_template(description)
        damage(choose, description)
        try:
            end = outcome(description)
        except AssertionError as error:
            raise WrongError(str(error)) from error
        shutil.rmtree(own / "case")
        return end

    return case


KIND = Kind("descriptions", 3000, begin)
