"""Report with a row for each pair: our kernel, torch's, and our previous one."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tools.gpu_code.pairs import Pair

# Largest ratio of an elementwise kernel's instructions to those of torch's.
MOST_OF_TORCH = 1.15
MARGIN = 1.02  # within which a figure counts as unchanged

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Comparison:
    """The figures of a pair; those that are not known are None."""

    pair: Pair
    ours: Row | None
    torch: Row | None
    first: Row | None

    @property
    def ratio(self) -> float | None:
        """Our instructions for an element, of torch's."""
        if self.ours is None or self.torch is None:
            return None
        return float(self.ours["per_element"]) / float(self.torch["per_element"])


def problems(rows: Iterable[Comparison], spills: Mapping[str, int]) -> list[str]:
    """Return the failures of the session: spills, and narrow accesses where wide are possible."""
    found = [f"{name} spills {count} bytes" for name, count in sorted(spills.items())]
    for row in rows:
        pair, ours = row.pair, row.ours
        if ours is None:
            found.append(f"{pair.key}: no kernel of ours matches {pair.ours[1]!r}")
            continue
        if ours["local"]:
            found.append(f"{pair.key}: {ours['local']} accesses of local memory on the hot path")
        moved = max(ours["load"], ours["store"])
        if moved < pair.wide:
            found.append(f"{pair.key}: accesses of {moved} bytes; it needs {pair.wide}")
    return found


def changes(rows: Iterable[Comparison], previous: Mapping[str, Row]) -> list[str]:
    """Return the differences from the committed report."""
    found = []
    for row in rows:
        key = row.pair.key
        if row.ours is None:
            continue
        if key not in previous:
            found.append(f"{key}: new")
            continue
        before, now = float(previous[key]["per_element"]), float(row.ours["per_element"])
        if not before / MARGIN <= now <= before * MARGIN:
            word = "better" if now < before else "worse"
            found.append(f"{key}: {word}, {before:g} -> {now:g} instructions an element")
    return found


def geometric_mean(values: Sequence[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values))


def markdown(rows: Sequence[Comparison], versions: Mapping[str, str], spilling: int) -> str:
    """The report as a document."""
    torch = versions["torch"].split("+")[0]
    lines = [
        "# Machine code of the GPU kernels, beside torch's",
        "",
        "Written by `tools/nox -s gpu-code -- --update`; `tools/gpu_code/` says how. Both columns",
        f"are machine code for compute capability 9.0: ours by nvcc {versions['nvcc']}, torch's",
        f"out of the wheel of torch {torch} for CUDA. They say what a kernel does for an element,",
        "which is no time.",
        "",
        "**Instructions for an element**: of the hot path, which is the way through the kernel,",
        "or once round a loop of it, that moves elements by the widest accesses there are, and of",
        "several such ways the one with the fewest instructions for an element. Elements are told",
        "by the bytes stored (in reductions, copies and AdamW: loaded); those of products and",
        "attention are multiply-adds. A loop's share of what comes before it is not counted;",
        "kernels without a loop, as torch's elementwise ones, are counted from the entry to the",
        "end. The cheaper side of a branch is taken, and called functions are not counted. Of",
        "kernels that pass over a row several times it is the pass that stores, and of sort one",
        "pass of many, which is no comparison.",
        "",
        "*Before*: when this report began. *Access*: the widest load and store on the hot path, in",
        "bytes. *Registers*: of a thread. *Occupancy*: the share of a multiprocessor's threads",
        "that run at once, as far as registers and shared memory let them. *Matrix*: instructions",
        "of tensor cores on the hot path.",
        "",
    ]
    lines += _means(rows)
    lines += [f"Kernels of ours that spill registers: {spilling}.", ""]
    for kind in dict.fromkeys(row.pair.kind for row in rows):
        lines += [f"## {kind.capitalize()}", "", *_table([x for x in rows if x.pair.kind == kind])]
    return "\n".join(lines)


def _means(rows: Sequence[Comparison]) -> list[str]:
    lines = [
        "| class | pairs | ours / torch, geometric mean | worst |",
        "| --- | ---: | ---: | ---: |",
    ]
    for kind in dict.fromkeys(row.pair.kind for row in rows):
        ratios = [row.ratio for row in rows if row.pair.kind == kind and row.ratio is not None]
        if ratios:
            mean = geometric_mean(ratios)
            lines.append(f"| {kind} | {len(ratios)} | {mean:.2f} | {max(ratios):.2f} |")
    return [*lines, ""]


def _table(rows: Sequence[Comparison]) -> list[str]:
    head = (
        "operator",
        "dtype",
        "before",
        "ours",
        "torch",
        "ratio",
        "access",
        "torch's",
        "registers",
        "torch's",
        "occupancy",
        "torch's",
        "stack",
        "shared",
        "matrix",
        "torch's",
    )
    lines = [f"| {' | '.join(head)} |", "| --- | --- |" + " ---: |" * (len(head) - 2)]
    for row in rows:
        ours, torch = row.ours or {}, row.torch or {}
        cells = [
            row.pair.operator,
            row.pair.dtype,
            _number((row.first or {}).get("per_element")),
            _number(ours.get("per_element")),
            _number(torch.get("per_element")),
            "-" if row.ratio is None else f"{row.ratio:.2f}",
            _access(ours),
            _access(torch),
            _number(ours.get("registers")),
            _number(torch.get("registers")),
            _share(ours.get("occupancy")),
            _share(torch.get("occupancy")),
            _number(ours.get("stack")),
            _number(ours.get("shared")),
            _number(ours.get("tensor_core")),
            _number(torch.get("tensor_core")),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return [*lines, ""]


def _number(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.2f}" if isinstance(value, float) and value < 100 else f"{value:g}"


def _share(value: Any) -> str:
    return "-" if value is None else f"{100 * value:.0f} %"


def _access(row: Row) -> str:
    return f"{row['load']} / {row['store']}" if row else "-"
