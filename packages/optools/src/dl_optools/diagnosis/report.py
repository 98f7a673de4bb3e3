"""Report of a diagnosis: text for the terminal and HTML page. Imports no torch."""

from __future__ import annotations

import shlex
from pathlib import Path

from dl_optools.diagnosis.coverage import Coverage
from dl_optools.diagnosis.diagnosis import Diagnosis, Guilty
from dl_optools.launching.launch import exact_patterns
from dl_optools.launching.lifetime import describe_end
from dl_report import page
from dl_report.page import Cell, Html

SHOWN = 12
NAMED = 6
"""Number of unchecked operators that the verdict names."""


def verdict(found: Diagnosis) -> str:
    """Return the verdict in one sentence."""
    if found.guilty:
        wrong = [x.name for x in found.guilty if x.returns]
        dead = [x.name for x in found.guilty if not x.returns]
        parts = []
        if wrong:
            parts.append(f"{' and '.join(wrong)} {'is' if len(wrong) == 1 else 'are'} wrong")
        if dead:
            verb = "does" if len(dead) == 1 else "do"
            parts.append(f"{' and '.join(dead)} {verb} not return")
        return f"{'; '.join(parts)} on this device.{_describe_limits(found)}"
    if found.unable:
        return f"No verdict: {found.unable}."
    but = f", but {found.overflow}" if found.overflow else ""
    return f"No operator was found to be wrong{but}.{_describe_limits(found)}"


def describe_devices(found: Diagnosis) -> str:
    """Return the checked devices; empty if no operator was seen."""
    if not found.devices:
        return ""
    more = (
        ""
        if found.accelerated
        else ": no accelerator was found, and --device names no other device"
    )
    return f"examined: operators on {', '.join(found.devices)}{more}"


def describe_failure(found: Diagnosis) -> list[str]:
    """Describe how the program ended, with its last lines and log; empty if it ended normally."""
    if not found.status or found.stopped:
        return []
    return [
        f"the program itself {describe_end(found.status)}; the end of its output:",
        *(f"  {line}" for line in found.ending or ["(none)"]),
        f"complete output: {found.log}",
    ]


def _describe_limits(found: Diagnosis) -> str:
    """Return further sentences about what the verdict does not cover."""
    coverage = found.coverage
    parts = []
    if found.stopped:
        parts.append("It was stopped before every call was checked.")
    missed = coverage.missed
    if coverage.total and not missed and not coverage.unseen:
        parts.append(f"All {coverage.total} calls were checked.")
    elif coverage.total:
        parts.append(f"{coverage.done} of {coverage.total} calls were checked.")
        if found.sampled:
            parts.append("Intermittent faults may be missed; without --quick all are checked.")
        elif missed:
            named = [f"{name} ({count})" for name, count in list(missed.items())[:NAMED]]
            more = f" and {len(missed) - NAMED} other operators" if len(missed) > NAMED else ""
            parts.append(f"Not checked, or not in all results: {', '.join(named)}{more}.")
    if found.unchecked:
        parts.append(f"Not checked: {found.unchecked}.")
    return "".join(f" {part}" for part in parts)


CHECKED = (
    "checked: each result of a call, its in-place writes, and that other arguments are unchanged. "
    "Results are compared with the CPU's float64 within the rounding bound, or with their "
    "definition; draws are tested for their distribution, for rows and calls that repeat, and for "
    "the generator's state. Not checked are times, memory, errors within the bound, and shapes and "
    "values that this program does not have."
)


def describe_power(coverage: Coverage) -> str:
    """Describe what the checked calls imply for this run, and for other runs."""
    counts = sorted(filter(None, map(coverage.complete, coverage.calls)))
    if not counts:
        return "No call was checked."
    fewest, middle = counts[0], counts[len(counts) // 2]
    seen = (
        "An error in any of them would have been detected."
        if coverage.done == coverage.total
        else "An error in a checked call would have been detected, but not in other calls."
    )
    return (
        f"{coverage.done} of {coverage.total} calls checked ({coverage.share:.1%}), of "
        f"{len(counts)} operators in {coverage.signatures} signatures. {seen} Other runs may fail "
        "by chance where this one did not: at 95 % confidence, an operator whose calls were all "
        f"right fails in at most {_rate(middle)} of its calls at the median of {middle} checked "
        f"calls an operator, and in at most {_rate(fewest)} at the fewest of {fewest}."
    )


def _rate(count: int) -> str:
    """Return the upper bound of the failure rate after n correct calls (Clopper, Pearson)."""
    return f"{1 - 0.05 ** (1 / count):.0%}"


def list_workarounds(found: Diagnosis) -> list[str]:
    """Return commands and hints for going on without what is wrong."""
    wrong = [*found.guilty, *found.affected]
    stuck = [x.name for x in wrong if x.name in found.only_on_device]
    kept = found.only_on_device | found.compiled
    names = exact_patterns(x.name for x in wrong if x.name not in kept)
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
            "torch.nn.attention.sdpa_kernel(SDPBackend.MATH) avoids it"
            if "attention" in name
            else "keep the program from calling it"
        )
        lines.append(f"{name} cannot fall back, the CPU cannot compute it: {way}")
    return lines


def _evidence(each: Guilty) -> list[str]:
    lines = list(each.evidence)
    if each.alone is not None:
        lines.append(
            "replayed alone, from its bundle, the first wrong call is wrong again"
            if each.alone
            else "replayed alone, the first wrong call is right: the error depends on what "
            "ran before, on kernels that the program registers, or on chance"
        )
    return lines


def text(found: Diagnosis, html: Path | None) -> str:
    """Return the whole report for a terminal."""
    lines = [f"verdict: {verdict(found)}"]
    lines += [x for x in [describe_devices(found)] if x]
    for each in found.guilty:
        lines.append(f"{each.name}")
        for line in _evidence(each):
            lines += [f"  {part}" for part in line.splitlines()]
        if each.script is not None:
            lines.append(f"  reproduce: python {each.script}")
    for each in found.affected:
        lines += [f"wrong because of it: {each.name}", f"  {each.evidence[0]}"]
    if found.guilty:
        lines += ["workaround:", *(f"  {line}" for line in list_workarounds(found))]
    elif not found.unable:
        lines += [f"  {describe_power(found.coverage)}", f"  {CHECKED}"]
    lines += [f"  {line}" for note in found.notes for line in note.splitlines()]
    lines += describe_failure(found)
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
    """Return a self-contained page."""
    coverage = found.coverage
    notes = [x for x in (shlex.join(found.command), describe_devices(found)) if x]
    if found.ranks > 1:
        notes.append(f"{found.ranks} processes")
    sections = [
        page.heading(verdict(found), notes),
        page.tiles(
            [
                (len(found.guilty), "wrong operators"),
                (sum(map(bool, map(coverage.complete, coverage.calls))), "operators checked"),
                (f"{coverage.share:.1%}", "of calls checked"),
                (coverage.signatures, "signatures"),
            ]
        ),
    ]
    for each in found.guilty:
        evidence = page.preformatted("\n".join(_evidence(each)))
        sections.append(page.section(each.name, "Evidence.", evidence, *_script(each)))
    for each in found.affected:
        evidence = page.preformatted("\n".join(each.evidence))
        sections.append(page.section(each.name, "Wrong because of a called operator.", evidence))
    if found.guilty:
        words = "The program with these operators on the CPU, and all others on the device."
        sections.append(
            page.section("Workaround", words, page.preformatted("\n".join(list_workarounds(found))))
        )
    if found.status:
        lines = page.preformatted("\n".join(describe_failure(found)))
        sections.append(page.section("How the program ended", "Under the tools.", lines))
    if found.notes:
        lines = page.preformatted("\n".join(found.notes))
        sections.append(page.section("Other observations", "Facts, but no faults.", lines))
    if not found.unable:
        gaps = [page.preformatted("\n".join(coverage.gaps))] if coverage.gaps else []
        definition = page.paragraph(CHECKED)
        sections.append(
            page.section(
                "What was checked", describe_power(coverage), definition, *gaps, _table(coverage)
            )
        )
    return page.render_page(verdict(found), sections)


def _script(each: Guilty) -> list[Html]:
    """Return the path of the script and its text, folded because of its length."""
    if each.script is None:
        return []
    script = each.script.read_text(encoding="utf-8")
    parts = [page.paragraph("The smallest script that reproduces it:")]
    parts.append(page.preformatted(f"python {each.script}"))
    if len(script) < 20_000:
        parts.append(page.folded("its text", page.preformatted(script)))
    return parts


def _table(coverage: Coverage) -> Html:
    rows: list[list[Cell]] = [
        [
            name,
            ", ".join(coverage.dtypes.get(name, ())),
            calls,
            coverage.complete(name),
        ]
        for name, calls in sorted(coverage.calls.items())
    ]
    return page.table(["operator", "dtypes", "calls", "checked"], rows) if rows else Html()
