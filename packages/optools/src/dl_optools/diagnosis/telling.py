"""What was found, in words and as a page. Imports no torch."""

from __future__ import annotations

import shlex
from pathlib import Path

from dl_core.pages import page
from dl_core.pages.page import Cell
from dl_optools.diagnosis.coverage import Coverage
from dl_optools.diagnosis.diagnosis import Diagnosis, Guilty
from dl_optools.launching.launch import describe_status, exact

SHOWN = 12
NAMED = 6
"""Operators that the verdict names as not checked."""


def verdict(found: Diagnosis) -> str:
    """One sentence."""
    if found.guilty:
        wrong = [x.name for x in found.guilty if x.returns]
        dead = [x.name for x in found.guilty if not x.returns]
        parts = []
        if wrong:
            parts.append(f"{' and '.join(wrong)} {'is' if len(wrong) == 1 else 'are'} wrong")
        if dead:
            verb = "does" if len(dead) == 1 else "do"
            parts.append(f"{' and '.join(dead)} {verb} not return")
        return f"{'; '.join(parts)} on this device.{_rest(found)}"
    if found.unable:
        return f"Nothing can be said: {found.unable}."
    return f"No operator was found to be wrong.{_rest(found)}"


def looked_at(found: Diagnosis) -> str:
    """The devices; empty where no operator was met."""
    if not found.devices:
        return ""
    more = "" if found.accelerated else ": there is no accelerator, and --device named nothing else"
    return f"looked at: operators on {', '.join(found.devices)}{more}"


def failure(found: Diagnosis) -> list[str]:
    """How the program ended, its last lines, and where the rest is; empty where it ended well."""
    if not found.status:
        return []
    return [
        f"the program itself ended with {describe_status(found.status)}; the end of its output:",
        *(f"  {line}" for line in found.ending or ["(none)"]),
        f"all of it: {found.log}",
    ]


def _rest(found: Diagnosis) -> str:
    """Return what the verdict does not cover, as further sentences of it."""
    coverage = found.coverage
    parts = []
    if found.stopped:
        parts.append("It was stopped before every call was looked at.")
    missed = coverage.missed
    if coverage.total and not missed and not coverage.unseen:
        parts.append(f"All {coverage.total} calls were checked.")
    elif coverage.total:
        parts.append(f"{coverage.done} of {coverage.total} calls were checked.")
        if found.sampled:
            parts.append("A fault at times only may be missed; without --quick all are checked.")
        elif missed:
            named = [f"{name} ({count})" for name, count in list(missed.items())[:NAMED]]
            more = f" and {len(missed) - NAMED} other operators" if len(missed) > NAMED else ""
            parts.append(f"Not checked, or not in all results: {', '.join(named)}{more}.")
    if found.unchecked:
        parts.append(f"Not checked: {found.unchecked}.")
    return "".join(f" {part}" for part in parts)


CHECKED = (
    "checked: each result of a call, what it writes, and that it leaves other arguments alone. "
    "Results are compared with the CPU's float64 within the rounding bound, or held against their "
    "definition; draws are tested for their distribution, for rows and calls that repeat, and for "
    "the generator's state. Not checked are times, memory, errors within the bound, and shapes and "
    "values that this program does not have."
)


def power(coverage: Coverage) -> str:
    """Return what the checked calls say of this run, and of others."""
    counts = sorted(filter(None, map(coverage.complete, coverage.calls)))
    if not counts:
        return "No call was checked."
    fewest, middle = counts[0], counts[len(counts) // 2]
    seen = (
        "An error in any of them would have been seen."
        if coverage.done == coverage.total
        else "An error in any of the checked calls would have been seen, one in the others not."
    )
    return (
        f"{coverage.done} of {coverage.total} calls checked ({coverage.share:.1%}), of "
        f"{len(counts)} operators in {coverage.signatures} signatures. {seen} Other runs may fail "
        "by chance where this one did not: at 95 % confidence, an operator whose calls were all "
        f"right fails in at most {_rate(middle)} of its calls at the median of {middle} checked "
        f"calls an operator, and in at most {_rate(fewest)} at the fewest of {fewest}."
    )


def _rate(count: int) -> str:
    """Return the largest failure rate that so many right calls leave likely (Clopper, Pearson)."""
    return f"{1 - 0.05 ** (1 / count):.0%}"


def workaround(found: Diagnosis) -> list[str]:
    """How to go on without what is wrong: a command, and words for what it cannot help."""
    wrong = [*found.guilty, *found.affected]
    stuck = [x.name for x in wrong if x.name in found.only_on_device]
    kept = found.only_on_device | found.compiled
    names = exact(x.name for x in wrong if x.name not in kept)
    lines = (
        [
            f"dl tool fallback --level dispatch --list {shlex.quote(names)} -- "
            f"{shlex.join(found.command)}"
        ]
        if names
        else []
    )
    if found.compiled:
        lines.append(
            "TORCH_COMPILE_DISABLE=1 runs the program without compiled graphs, outside of which "
            f"{' and '.join(sorted(found.compiled))} {'is' if len(found.compiled) == 1 else 'are'} "
            "right"
        )
    for name in stuck:
        way = (
            "torch.nn.attention.sdpa_kernel(SDPBackend.MATH) goes around it"
            if "attention" in name
            else "keep the program from calling it"
        )
        lines.append(f"{name} cannot fall back, the CPU has nothing that computes it: {way}")
    return lines


def _evidence(each: Guilty) -> list[str]:
    lines = list(each.evidence)
    if each.alone is not None:
        lines.append(
            "replayed alone, from its bundle, the first wrong call is wrong again"
            if each.alone
            else "replayed alone, the first wrong call is right: what is wrong depends on what "
            "ran before, or on chance"
        )
    return lines


def text(found: Diagnosis, html: Path | None) -> str:
    """The whole report for a terminal."""
    lines = [f"verdict: {verdict(found)}"]
    lines += [x for x in [looked_at(found)] if x]
    for each in found.guilty:
        lines.append(f"{each.name}")
        for line in _evidence(each):
            lines += [f"  {part}" for part in line.splitlines()]
        if each.script is not None:
            lines.append(f"  reproduce: python {each.script}")
    for each in found.affected:
        lines += [f"wrong because of it: {each.name}", f"  {each.evidence[0]}"]
    if found.guilty:
        lines += ["until it is mended:", *(f"  {line}" for line in workaround(found))]
    elif not found.unable:
        lines += [f"  {power(found.coverage)}", f"  {CHECKED}"]
    lines += [f"  {line}" for note in found.notes for line in note.splitlines()]
    lines += failure(found)
    gaps = found.coverage.gaps
    if gaps:
        lines.append("not checked:")
        lines += [f"  {gap}" for gap in gaps[:SHOWN]]
        if len(gaps) > SHOWN:
            lines.append(f"  and {len(gaps) - SHOWN} more: on the page")
    if html is not None:
        lines.append(f"page: {html}")
    return "\n".join(lines) + "\n"


def html(found: Diagnosis) -> str:
    """One page that needs nothing else."""
    coverage = found.coverage
    notes = [x for x in (shlex.join(found.command), looked_at(found)) if x]
    if found.ranks > 1:
        notes.append(f"{found.ranks} processes")
    sections = [
        page.heading(verdict(found), notes),
        page.tiles(
            [
                (str(len(found.guilty)), "wrong operators"),
                (str(sum(map(bool, map(coverage.complete, coverage.calls)))), "operators checked"),
                (f"{coverage.share:.1%}", "of calls checked"),
                (str(coverage.signatures), "signatures"),
            ]
        ),
    ]
    for each in found.guilty:
        evidence = page.preformatted("\n".join(_evidence(each)))
        sections.append(page.section(each.name, "What shows it.", evidence, *_script(each)))
    for each in found.affected:
        evidence = page.preformatted("\n".join(each.evidence))
        sections.append(page.section(each.name, "Wrong because of what it runs inside.", evidence))
    if found.guilty:
        words = "The program with these operators on the CPU, and all others on the device."
        sections.append(
            page.section(
                "Until it is mended", words, page.preformatted("\n".join(workaround(found)))
            )
        )
    if found.status:
        told = page.preformatted("\n".join(failure(found)))
        sections.append(page.section("How the program ended", "Under the tools.", told))
    if found.notes:
        told = page.preformatted("\n".join(found.notes))
        sections.append(page.section("Beside that", "Facts that convict nobody.", told))
    if not found.unable:
        gaps = [page.preformatted("\n".join(coverage.gaps))] if coverage.gaps else []
        said = page.paragraph(CHECKED)
        sections.append(
            page.section("What was checked", power(coverage), said, *gaps, _table(coverage))
        )
    return page.page(verdict(found), sections)


def _script(each: Guilty) -> list[str]:
    """Where the script is, and its text, folded: it is longer than all else."""
    if each.script is None:
        return []
    script = each.script.read_text(encoding="utf-8")
    parts = [page.paragraph("The smallest script that reproduces it:")]
    parts.append(page.preformatted(f"python {each.script}"))
    if len(script) < 20_000:
        parts.append(page.folded("its text", script))
    return parts


def _table(coverage: Coverage) -> str:
    rows: list[list[Cell]] = [
        [
            name,
            ", ".join(coverage.dtypes.get(name, ())),
            (str(calls), calls),
            (str(coverage.complete(name)), coverage.complete(name)),
        ]
        for name, calls in sorted(coverage.calls.items())
    ]
    return page.sortable(["operator", "dtypes", "calls", "checked"], rows) if rows else ""
