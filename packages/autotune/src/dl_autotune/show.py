"""``dl tune show``: list all studies, or the trials of one study."""

from __future__ import annotations

from collections.abc import Sequence

from diopi_proto.text import write_output
from dl_core.simulation import LABEL

from .errors import TuningError
from .observers import Verdict
from .runners.database import Database, StoredClaim, StoredTransfer, StoredTrial, Study
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
        given = database.trials(study)
        for transfer in database.transfers(study):
            write_output(f"  earlier: {format_transfer(transfer)}\n")
            write_output("".join(f"    {line}\n" for line in transferred(transfer, given)))
        trials = sorted(given, key=lambda trial: -(trial.ratio or 0))
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


def format_transfer(transfer: StoredTransfer) -> str:
    """Describe what a search took from an earlier study."""
    found = transfer.identity
    where = [format_values(found.get("shape", {})), f"on {found.get('device')}"]
    count = len(transfer.configs)
    took = f"{count} configuration{'' if count == 1 else 's'} and predictions from"
    outside = f", {transfer.outside} outside of the space" if transfer.outside else ""
    return (
        f"{took} {transfer.trials} trials of {transfer.source} ({' '.join(filter(None, where))};"
        f" layer {transfer.layer}){outside}"
    )


def transferred(transfer: StoredTransfer, trials: Sequence[StoredTrial]) -> list[str]:
    """Return a line for each transferred configuration, with its result in this study."""
    lines = []
    for config in transfer.configs:
        trial = next((each for each in trials if dict(each.config) == dict(config)), None)
        lines.append(f"not evaluated, {format_values(config)}" if trial is None else _trial(trial))
    return lines


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
