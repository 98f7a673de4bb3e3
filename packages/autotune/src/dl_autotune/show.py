"""``dl tune show``: list all studies, or the trials of one study."""

from __future__ import annotations

from diopi_proto.text import write_output
from dl_core.simulation import LABEL

from .errors import TuningError
from .observers import Verdict
from .runners.database import Database, StoredClaim, StoredTrial, Study
from .terminal import format_values

_MOST_TRIALS = 10
SIMULATED = f" ({LABEL})"
"""Label of a study of a simulated device."""


def show_studies(key: str | None, database: Database, *, every: bool = False) -> int:
    """``dl tune show``."""
    if key is not None:
        study = find(key, database)
        write_output(_line(study, database))
        for name, value in study.identity.items():
            write_output(f"  {name}: {value}\n")
        trials = sorted(database.trials(study), key=lambda trial: -(trial.ratio or 0))
        most = len(trials) if every else _MOST_TRIALS
        write_output("".join(f"  {_trial(trial)}\n" for trial in trials[:most]))
        if len(trials) > most:
            write_output(f"  ... and {len(trials) - most} more: --all shows them\n")
        return 0
    studies = database.studies()
    write_output("".join(_line(study, database) for study in studies))
    if not studies:
        write_output(f"nothing was tuned yet in {database.path}\n")
    return 0


def _line(study: Study, database: Database) -> str:
    found = study.identity
    claimed: StoredClaim | None = database.claimed(study)
    said = "not finished"
    if claimed is not None:
        said = claimed.verdict
        if claimed.races:
            said += f": {claimed.ratio:.3f} x [{claimed.low:.3f}, {claimed.high:.3f}]"
        if found.get("kernel") != "operator":
            said += f", {format_values(claimed.config)}"
        elif claimed.verdict == Verdict.FASTER.value:
            chosen = (f"{key.partition(':')[0]}={each}" for key, each in claimed.config.items())
            said += f", {', '.join(chosen)}"
    shape = f" ({format_values(found['shape'])})" if "shape" in found else ""
    count = len(database.trials(study))
    return (
        f"{study.key}  {found.get('kernel')}:{found.get('function')}{shape} on"
        f" {found.get('vendor')}{SIMULATED if study.simulated else ''}, {count} trials, {said}\n"
    )


def _trial(trial: StoredTrial) -> str:
    if trial.ratio is None:
        first = trial.message.strip().partition("\n")[0]
        return f"{trial.invalidity}: {first[:100]}, {format_values(trial.config)}"
    return f"{trial.ratio:.3f} x [{trial.low:.3f}, {trial.high:.3f}], {format_values(trial.config)}"


def find(key: str, database: Database) -> Study:
    """Return the study whose key begins with a prefix.

    :raises TuningError: no study has such a key, or more than one has.
    """
    found = [study for study in database.studies() if study.key.startswith(key)]
    if len(found) == 1:
        return found[0]
    known = ", ".join(study.key for study in database.studies()) or "none"
    count = "no study" if not found else "more than one study"
    raise TuningError(f"[tune] {count} begins with {key!r}; available: {known}")
