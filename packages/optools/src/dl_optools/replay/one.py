"""Replay of one bundle for ``dl replay``."""

from __future__ import annotations

import statistics
from pathlib import Path

import torch

from diopi_proto.worker import note
from dl_optools.bundle.errors import BundleError
from dl_optools.bundle.reader import Bundle, read
from dl_optools.bundle.sizes import Use
from dl_optools.compare.tolerance_options import ComparisonOptions
from dl_optools.environment import environment
from dl_optools.isolation.answer import WRONG, Answer
from dl_optools.options import OptionError, nbytes_text
from dl_optools.replay.check import CheckResult, check
from dl_optools.replay.lines import check_lines, run_lines
from dl_optools.replay.run import measure, run
from dl_optools.tool import resolve_device

_NO_MEMORY = ("allocate memory", "not enough memory", "bad_alloc", "out of memory")


def replay(
    path: str,
    place: str,
    *,
    device: str,
    memory: int,
    checked: bool,
    repeat: int,
    backward: bool,
    synchronize: bool,
    trusted: bool = False,
    each: bool = False,
) -> Answer:
    """Read a bundle and run its call; check and time it on request.

    :param place: label of the bundle in tables.
    :param memory: maximum memory in bytes.
    :param repeat: number of timed runs; 0: none.
    :param each: add a line for each run and each comparison; the first run counts, too.
    """
    device = resolve_device(device)
    try:
        options = ComparisonOptions(environment()) if checked else None
        note("it was reading the bundle")
        use = Use.CHECK if checked else Use.RUN
        bundle = read(Path(path), limit=memory, use=use, trusted=trusted)
        note(f"it was running {bundle.document.operator}")
        found = Answer()
        row = [place, bundle.document.operator]
        if options is not None:
            outcome = check(bundle, device, backward=backward, options=options)
            row += _verdict(outcome)
            if each:
                found.lines += check_lines(bundle.document.operator, outcome)
            found.lines += _report(place, bundle, outcome)
            found.code = 0 if outcome.ok else WRONG
        if repeat:
            times = measure(
                bundle,
                device,
                repeat=repeat,
                backward=backward,
                synchronize=synchronize,
                warm_up=not each,
            )
            row += [_microseconds(times.forward), _microseconds(times.backward)]
            if each:
                found.lines += run_lines(bundle.document.operator, times)
        if not checked and not repeat:
            results = run(bundle, device, backward=backward).results
            row.append(", ".join(_describe(x) for x in results))
        found.rows.append(row)
    except (BundleError, OptionError) as error:
        return Answer.refused(str(error))
    except (
        *(RuntimeError, TypeError, ValueError, NotImplementedError),
        *(IndexError, MemoryError, OverflowError),
    ) as error:
        text = f"{type(error).__name__}: {error}".partition("\n")[0]
        why = f"it raises {text}"
        if isinstance(error, MemoryError) or any(x in text for x in _NO_MEMORY):
            why = f"it needs more than {nbytes_text(memory)} of memory (--memory-limit): {text}"
        return Answer(lines=[f"{path}: {why}"], code=WRONG)
    return found


def _verdict(outcome: CheckResult) -> list[str]:
    return [
        "ok" if outcome.ok else "WRONG",
        _units([part.here for part in outcome.parts]),
        _units([part.recorded for part in outcome.parts]),
    ]


def _units(values: list[float]) -> str:
    """Return the largest error in units of the allowed error; a dash if nothing was compared."""
    known = [value for value in values if value == value]
    return f"{max(known):.3g}" if known else "-"


def _report(place: str, bundle: Bundle, outcome: CheckResult) -> list[str]:
    details = [part.detail for part in outcome.parts if part.detail]
    if not details and not outcome.notes:
        return []
    return [f"{place} {bundle.document.operator}", *_indent(outcome.notes + details)]


def _indent(texts: list[str]) -> list[str]:
    return ["  " + line for text in texts for line in text.splitlines()]


def _microseconds(seconds: list[float]) -> str:
    return f"{statistics.median(seconds) * 1e6:.1f}" if seconds else "-"


def _describe(tensor: torch.Tensor) -> str:
    return f"{str(tensor.dtype).removeprefix('torch.')}{list(tensor.shape)}"
