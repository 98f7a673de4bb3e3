"""Write tuned values into the source of a kernel, which stays tunable."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from diopi_proto.foreign_file import SOURCE_BYTES, read_regular
from dl_core.errors import OutputError
from dl_core.files import write

from .errors import MarkerError, TuningError
from .observers import Verdict
from .runners.database import StoredClaim, Study
from .spaces.markers import substitute


def _has(text: str, claim: StoredClaim) -> bool:
    """Return True if a source has the values of the winner already."""
    try:
        return substitute(text, claim.config, keep_markers=True).split() == text.split()
    except MarkerError:
        return False


def _plain(written: str) -> tuple[str, list[str]]:
    """Return a text with normalized line endings, and the original line ending."""
    ends = re.findall(r"\r\n|\r|\n", written)
    return re.sub(r"\r\n|\r", "\n", written), ends


def apply(study: Study, claim: StoredClaim | None, source: Path, output: Path) -> None:
    """Write the values of the winner at the markers.

    :param source: the tuned file, unchanged since.
    :param output: path of the result; may be `source`.
    :raises TuningError: nothing is claimed to be faster, `source` is not what was tuned, or a file
        cannot be read or written.
    """
    if study.identity.get("kernel") == "operator":
        raise TuningError(
            f"[tune] study {study.key} tuned an operator, which has no source; every program "
            "already uses the choices of the study"
        )
    if claim is None or claim.verdict != Verdict.FASTER.value:
        said = "the search has not ended" if claim is None else f"the verdict is: {claim.verdict}"
        raise TuningError(f"[tune] study {study.key} has nothing to apply: {said}")
    try:
        written = read_regular(source, SOURCE_BYTES).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise TuningError(f"[tune] {source} cannot be read: {error}") from error
    # The tuned text has normalized line endings; the file keeps its own.
    text, ends = _plain(written)
    if _has(text, claim):
        tuned = text
    elif hashlib.sha256(text.encode()).hexdigest() != study.identity.get("source"):
        raise TuningError(
            f"[tune] {source} is not what study {study.key} tuned ({study.identity.get('kernel')}),"
            " or has changed since: tune it again"
        )
    else:
        tuned = substitute(text, claim.config, source.name, keep_markers=True)

    def fill(part: Path) -> None:
        with part.open("w", encoding="utf-8", newline="") as file:
            file.writelines(
                line + end for line, end in zip(tuned.split("\n"), [*ends, ""], strict=True)
            )
        if output.exists():
            part.chmod(output.stat().st_mode)

    try:
        write(output, fill, force=True)
    except OutputError as error:
        raise TuningError(f"[tune] {error}") from error
