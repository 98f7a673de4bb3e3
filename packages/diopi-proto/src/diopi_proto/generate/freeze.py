"""tests/abi/signatures.expected: signatures that releases must not change."""

from __future__ import annotations

from pathlib import Path

from diopi_proto.generate.read import read_schema
from diopi_proto.schema import Operator, canonical_signature

FILE = "tests/abi/signatures.expected"
_HEADER = (
    "# Fingerprint and canonical signature of every operator. Lines are only ever added,\n"
    "# by `python -m diopi_proto.generate --freeze`: a changed signature needs a new name.\n"
)


class FrozenSignatureError(ValueError):
    """The schema changes or drops an operator that vendors may have compiled against."""


def line_of(operator: Operator) -> str:
    """Return the operator's line of the file."""
    return f"{operator.fingerprint:016x} {canonical_signature(operator)}"


def freeze(root: Path) -> list[str]:
    """Append the operators that the file does not have yet and return their lines.

    :raises FrozenSignatureError: for a line of the file, the schema has another signature.
    """
    path = root / FILE
    text = path.read_text(encoding="utf-8") if path.is_file() else _HEADER
    frozen = [line for line in text.splitlines() if not line.startswith("#")]
    current = [line_of(operator) for operator in read_schema(root / "schema").operators]
    gone = sorted(set(frozen) - set(current))
    if gone:
        raise FrozenSignatureError(f"{len(gone)} frozen signatures changed, first: {gone[0]}")
    added = sorted(set(current) - set(frozen), key=lambda line: line.split(" ", 1)[1])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "".join(f"{line}\n" for line in added), encoding="utf-8")
    return added
