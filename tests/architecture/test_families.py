"""Every operator has one address: the schema's family is the file name of its kernel.

python tests/architecture/test_families.py     # the same without pytest, for `nox -s lint`
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path

PACKAGES = Path(__file__).parents[2] / "packages"
SCHEMA = PACKAGES / "diopi-proto" / "schema"
KERNELS = PACKAGES / "kernels" / "src"
LONGEST = 320  # lines of a file; a longer family must be split


@cache
def schema_families() -> dict[str, str]:
    """Return the family of each operator, which is the name of its file in the schema."""
    found = {}
    for path in sorted(SCHEMA.glob("*.yaml")):
        for name in re.findall(
            r"^  - name: (\w+)$", path.read_text(encoding="utf-8"), re.MULTILINE
        ):
            if path.stem != "runtime":
                found[name] = path.stem
    return found


def family_of_file(stem: str) -> str | None:
    """Return the longest family that a file name begins with: `upsample_linear_cubic` belongs to
    `upsample_linear`.
    """
    names = {name for name in schema_families().values() if f"{stem}_".startswith(f"{name}_")}
    return max(names, key=len, default=None)


def kernel_families() -> dict[str, str]:
    """Return the family of each operator with a kernel, which is the name of the kernel's file."""
    sys.path.insert(0, str(KERNELS))
    from dl_kernels import families

    return {name: family for family, names in families().items() for name in names}


def misplaced(schema: Mapping[str, str], places: Mapping[str, str], what: str) -> list[str]:
    """Return a sentence for each operator in a wrong file."""
    wrong = []
    for name, family in sorted(places.items()):
        if name not in schema:
            wrong.append(f"{name} has a {what} in {family} and is not in the schema")
        elif schema[name] != family:
            wrong.append(
                f"{name} belongs to {schema[name]} (schema/{schema[name]}.yaml), and its {what} "
                f"is in {family}; move one of the two"
            )
    return wrong


def test_kernels_are_in_files_of_their_family() -> None:
    assert misplaced(schema_families(), kernel_families(), "kernel") == []


def test_family_that_differs_is_noticed() -> None:
    schema = {"diopiSin": "trigonometry", "diopiAdd": "arithmetic"}
    assert misplaced(schema, {"diopiSin": "trigonometry"}, "kernel") == []
    (said,) = misplaced(schema, {"diopiSin": "trigonometry", "diopiAdd": "trigonometry"}, "kernel")
    assert "diopiAdd belongs to arithmetic" in said
    (said,) = misplaced(schema, {"diopiCos": "trigonometry"}, "row")
    assert said == "diopiCos has a row in trigonometry and is not in the schema"


def test_families_are_words_and_fit_on_some_pages() -> None:
    files = [*SCHEMA.glob("*.yaml"), *KERNELS.parent.glob("include/dl_kernels/ops/*.inc")]
    assert len(files) > 100
    for path in files:
        assert re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", path.stem), path.name
        # Families are not named after the origin of an operator.
        assert not re.search(r"(^|_)(dl|dlop|diopi|mmcv|lmdeploy|ext)(_|$)", path.stem), path.name
        lines = path.read_text(encoding="utf-8").count("\n")
        assert lines <= LONGEST, f"{path.name} has {lines} lines; split the family"


def main() -> int:
    wrong = misplaced(schema_families(), kernel_families(), "kernel")
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
