"""HTML page of a study: the claim, the search, and the measurements."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Sequence

from dl_report import charts, page
from dl_report.charts import Bar, Line, Samples
from dl_report.page import Cell, Html

from ..runners.database import StoredClaim, StoredTransfer, StoredTrial, Study
from ..show import format_transfer, transferred
from ..terminal import format_values
from .importance import LEAST, Importance, importance

_MOST_FINALISTS = 8
_MOST_PAIRS = 6
_BINS = 14


def study_page(
    study: Study,
    trials: Sequence[StoredTrial],
    claim: StoredClaim | None,
    transfers: Sequence[StoredTransfer] = (),
) -> str:
    """Return the text of the page.

    :param transfers: what the search took from earlier studies.
    """
    found = study.identity
    title = (
        f"{found.get('kernel')}: {found.get('function')} ({format_values(found.get('shape', {}))})"
    )
    notes = [
        f"{name}: {_text(value)}"
        for name, value in found.items()
        if name not in ("kernel", "shape")
    ]
    timed = sorted((t for t in trials if t.ratio is not None), key=lambda t: -(t.ratio or 0))
    sections = [
        page.heading(title, [f"study {study.key}, begun {study.created}", *notes]),
        page.tiles(_tiles(trials, timed, claim)),
        _verdict(claim, found.get("default", {})),
    ]
    if transfers:
        sections.append(_transfers(transfers, trials))
    if timed:
        sections += [_convergence(trials), _distribution(timed), *_parameters(trials)]
        sections.append(_finalists(timed))
    sections += [_rejected(trials), _all(trials)]
    return page.render_page(title, sections)


def _text(value: object) -> str:
    if isinstance(value, dict):
        return format_values(value)
    if isinstance(value, list):
        return " ".join(map(str, value)) or "none"
    return str(value)


def _tiles(
    trials: Sequence[StoredTrial], timed: Sequence[StoredTrial], claim: StoredClaim | None
) -> list[tuple[str, str]]:
    failed = len(trials) - len(timed)
    tiles = [(str(len(trials)), "configurations"), (str(failed), "of them failed")]
    if claim is None:
        return [("not finished", "verdict"), *tiles]
    if not claim.races:
        return [(claim.verdict, "verdict"), *tiles]
    return [
        (claim.verdict, "verdict"),
        (f"{claim.ratio:.3f} x", "faster than the default"),
        (f"{claim.low:.3f} to {claim.high:.3f}", "predicted for a rerun, 95 %"),
        *tiles,
        (f"{claim.noise:.1%}", "noise of the default against itself, added to the interval"),
    ]


def _verdict(claim: StoredClaim | None, default: dict[str, object]) -> Html:
    if claim is None:
        text = "The search has not ended. The same command continues it."
        return page.section("Verdict", text)
    lines = f"default  {format_values(default)}\nbest     {format_values(claim.config)}"
    text = (
        "Each row is a race in a separate process that took no part in the selection; each point "
        "is the"
        " ratio of a pair of blocks, default by candidate: above 1, the candidate is "
        "faster."
    )
    if not claim.races:
        text = "No candidate was faster when it was raced again, so nothing is claimed."
        return page.section("Verdict", text, page.preformatted(lines))
    rows = [
        Samples(f"process {number}", race, None, f"{_middle(race):.3f} x")
        for number, race in enumerate(claim.races, 1)
    ]
    said = f"{claim.ratio:.3f} x"
    rows.append(Samples("claimed", (), (claim.low, claim.ratio, claim.high), said))
    return page.section(
        "Verdict",
        text,
        page.preformatted(lines),
        charts.samples(rows, "ratio of times, default by candidate", 1.0, label=130),
    )


def _transfers(transfers: Sequence[StoredTransfer], trials: Sequence[StoredTrial]) -> Html:
    lines = []
    for each in transfers:
        lines += [format_transfer(each), *(f"  {line}" for line in transferred(each, trials))]
    return page.section(
        "Earlier studies",
        "The search began with the best configurations of these studies, among others, and learned"
        " from its own measurements how far to follow their predictions. --no-transfer searches"
        " without them.",
        page.preformatted("\n".join(lines)),
    )


def _convergence(trials: Sequence[StoredTrial]) -> Html:
    best, path = 0.0, []
    for number, trial in enumerate(trials, 1):
        best = max(best, trial.ratio or 0.0)
        path.append((float(number), best))
    default = [(0.0, 1.0), (float(len(trials)), 1.0)]
    lines = [Line(path, "the best so far", "first"), Line(default, "the default", "limit")]
    return page.section(
        "Convergence",
        "The best ratio so far. Ratios of the search favor lucky candidates:"
        " only the verdict "
        "was measured again.",
        page.key([("forward", "the best so far"), ("limit", "the default")]),
        charts.over_time(lines, ("evaluations", "ratio"), height=260),
    )


def _distribution(timed: Sequence[StoredTrial]) -> Html:
    logs = [math.log(trial.ratio or 1.0) for trial in timed]
    low, high = min(logs), max(logs)
    width = (high - low) / _BINS or 1.0
    counts = Counter(min(int((each - low) / width), _BINS - 1) for each in logs)
    bars = []
    for at in range(_BINS if high > low else 1):
        start, end = (math.exp(low + (at + step) * width) for step in (0, 1))
        style = "third" if start >= 1 else "rest"
        count = counts[at]
        bars.append(Bar(f"{start:.3f} to {end:.3f} x", [(count, style)], str(count)))
    return page.section(
        "Distribution",
        "Number of timed configurations by their ratio to the default.",
        page.key([("third", "faster than the default"), ("rest", "others")]),
        charts.bars(bars, label=170),
    )


def _parameters(trials: Sequence[StoredTrial]) -> list[Html]:
    found = importance(trials)
    if found is None:
        text = f"Too few configurations were timed: {LEAST} different configurations are needed."
        return [page.section("Parameters", text)]
    pairs = [pair for pair in found.pairs if pair.share >= 0.005][:_MOST_PAIRS]
    bars = [Bar(name, [(share, "forward")], f"{share:.1%}") for name, share in found.alone.items()]
    bars += [
        Bar(" and ".join(pair.names), [(pair.share, "overload")], f"{pair.share:.1%}")
        for pair in pairs
    ]
    return [
        page.section(
            "Parameters",
            "Share of the variance in speed that each parameter explains, alone and, beyond that, "
            "in"
            " pairs, according to trees that were fitted to the trials. They predict"
            f" {max(found.explained, 0):.0%} of the variance of trials left out.",
            page.key([("forward", "alone"), ("overload", "a pair together")]),
            charts.bars(bars, label=250),
            *_strongest(found),
        )
    ]


def _strongest(found: Importance) -> list[Html]:
    """Return the expected ratios of the most important pair."""
    if not found.pairs:
        return []

    def whole(names: tuple[str, str], share: float) -> float:
        return share + sum(found.alone[name] for name in names)

    pair = max(found.pairs, key=lambda each: whole(each.names, each.share))
    first, second = pair.names
    text = f"Expected ratios by {first} (across) and {second} (down), other parameters averaged."
    grid = charts.heat(
        pair.names,
        [f"{first}={value}" for value in found.values[first]],
        [f"{second}={value}" for value in found.values[second]],
        pair.ratios.T.tolist(),
    )
    return [page.paragraph(text), grid]


def _finalists(timed: Sequence[StoredTrial]) -> Html:
    rows, configs = [], []
    for number, trial in enumerate(timed[:_MOST_FINALISTS], 1):
        assert trial.ratio is not None and trial.low is not None and trial.high is not None
        interval = (trial.low, trial.ratio, trial.high)
        said = f"{trial.ratio:.3f} x"
        rows.append(Samples(f"no. {number}", _samples(trial), interval, said))
        configs.append(f"no. {number}  {format_values(trial.config)}")
    return page.section(
        "Finalists",
        "The best of the search. Each point is the median of the default's runs in the same "
        "race,"
        " divided by a run of the candidate; the bar is the interval of the ratio of "
        "blocks.",
        charts.samples(rows, "ratio of times, default by candidate", 1.0, label=130),
        page.preformatted("\n".join(configs)),
    )


def _samples(trial: StoredTrial) -> list[float]:
    if not trial.baseline:
        return []
    default = statistics.median_high(trial.baseline)
    return [default / seconds for seconds in trial.candidate]


def _rejected(trials: Sequence[StoredTrial]) -> Html:
    failed = [trial for trial in trials if trial.ratio is None]
    if not failed:
        return page.section("Rejected", "None: all configurations ran and were right.")
    counts = Counter(trial.invalidity for trial in failed)
    bars = [
        Bar(reason, [(count, "backward")], str(count)) for reason, count in counts.most_common()
    ]
    rows: list[list[Cell]] = [
        [trial.invalidity, format_values(trial.config), trial.message.strip()[:400]]
        for trial in failed
    ]
    return page.section(
        "Rejected",
        "Configurations that were never timed, with the reasons.",
        charts.bars(bars, label=170),
        page.table(["reason", "configuration", "message"], rows),
    )


def _all(trials: Sequence[StoredTrial]) -> Html:
    names = list(trials[0].config) if trials else []
    rows: list[list[Cell]] = []
    for number, trial in enumerate(trials, 1):
        ratio = "" if trial.ratio is None else f"{trial.ratio:.3f}"
        span = "" if trial.low is None else f"{trial.low:.3f} to {trial.high:.3f}"
        rows.append(
            [
                number,
                *(_cell(trial.config[name]) for name in names),
                trial.invalidity,
                (ratio, trial.ratio),
                span,
                _milliseconds(trial.candidate),
            ]
        )
    heads = ["evaluation", *names, "outcome", "ratio", "interval", "milliseconds"]
    return page.section("Trials", "All trials in the order of evaluation.", page.table(heads, rows))


def _cell(value: object) -> Cell:
    return value if isinstance(value, int | float) else str(value)


def _milliseconds(seconds: Sequence[float]) -> Cell:
    if not seconds:
        return "", None
    middle = 1e3 * statistics.median_high(seconds)
    return f"{middle:.4g}", middle


def _middle(race: Sequence[float]) -> float:
    return statistics.geometric_mean(race) if race else 1.0
