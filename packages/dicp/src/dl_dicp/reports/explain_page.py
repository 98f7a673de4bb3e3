"""HTML report about the graphs of this process."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from dl_dicp.compiled import CompiledGraph, all_graphs
from dl_dicp.program.cache import graph_of
from dl_dicp.program.compiled_program import Program
from dl_dicp.program.document import ENTRY, Region
from dl_dicp.recording.shapes import Sizes
from dl_dicp.reports.explain import format_arguments, recompilations
from dl_dicp.reports.memory_picture import format_bytes, memory_picture
from dl_dicp.statistics import statistics
from dl_dicp.variant import Variant
from dl_report.charts import strip
from dl_report.page import Html, heading, key, paragraph, render_page, section, table, tiles

MOST_CALLS = 400
"""Maximum number of listed calls of a contract graph."""

_HOW = {"blocks": "forward", "whole": "rest", "engine": "overload", "host": "third"}
_WORDS = {
    "blocks": "block by block",
    "whole": "as a whole",
    "engine": "by a plugin's engine",
    "host": "host calls",
}


def explain_page(program: str) -> str:
    """Return the HTML page.

    :param program: name of the program, for the title.
    """
    graphs = sorted(all_graphs, key=lambda graph: graph.number)
    parts = [heading(f"dl dicp explain {program}", _notes(graphs)), tiles(_tiles())]
    parts += [_recompiled(), _patterns(graphs), _engines(graphs), _eagerly(graphs)]
    for graph in graphs:
        for number, variant in enumerate(graph.variants):
            parts.append(_variant(graph, number, variant))
    return render_page("dl dicp explain", [part for part in parts if part])


def _notes(graphs: list[CompiledGraph]) -> list[str]:
    if not graphs:
        return ['No graph was compiled: the program calls no torch.compile(..., backend="dl").']
    return [
        f"Dynamo graphs: {len(graphs)}, with {sum(len(g.variants) for g in graphs)} argument "
        "layouts; each layout has a program.",
        "A contract graph consists of calls of the vendor's operators with a static plan of their "
        "temporaries. All other operators run eagerly and are listed with the reason.",
    ]


def _tiles() -> list[tuple[str | int, str]]:
    seen = statistics.snapshot()
    return [
        (seen.graphs, "runs of contract graphs"),
        (seen.calls, "operator calls in contract graphs"),
        (seen.tiled_calls, "operator calls run block by block"),
        (seen.patterns.total(), "sequences fused by patterns"),
        (seen.host_calls.total(), "host calls"),
        (seen.eager.total(), "eager runs of whole graphs"),
    ]


def _recompiled() -> Html:
    rows = [(name, reason) for name, reason in recompilations()]
    if not rows:
        return section("Recompilations", "Dynamo recompiled nothing.")
    text = "Functions that Dynamo recompiled, each with the guard that failed."
    return section("Recompilations", text, table(("function", "guard"), rows, False))


def _patterns(graphs: list[CompiledGraph]) -> Html:
    fired: Counter[str] = Counter()
    declined: Counter[tuple[str, str]] = Counter()
    for variant in (v for graph in graphs for v in graph.variants if v.rewriting is not None):
        assert variant.rewriting is not None
        fired.update(variant.rewriting.fired)
        declined.update(variant.rewriting.declined)
    if not fired and not declined:
        return section("Patterns", "No pattern matched a sequence of calls.")
    rows = [(name, "fused", n) for name, n in fired.items()]
    rows += [(name, f"left alone, because {why}", n) for (name, why), n in declined.items()]
    text = "Sequences of calls that became one fused call, and sequences that were left alone."
    return section("Patterns", text, table(("pattern", "outcome", "times"), rows, False))


def _engines(graphs: list[CompiledGraph]) -> Html:
    rows = []
    for graph in graphs:
        rows += [(f"graph {graph.number}", remark) for remark in graph.remarks]
        for variant in graph.variants:
            if variant.program is None:
                continue
            engine = variant.program.engine
            if engine.problem:
                rows.append((f"graph {graph.number}", f"no engine {engine.name}: {engine.problem}"))
            rows += [
                (f"graph {graph.number}, part {index}", line) for index, line in engine.lines()
            ]
    if not rows:
        return Html()
    text = "Graphs of engines. An engine that fails or differs is dropped; results stay correct."
    return section("Engines", text, table(("where", "outcome"), rows, False))


def _eagerly(graphs: list[CompiledGraph]) -> Html:
    rows = []
    for graph in graphs:
        for variant in graph.variants:
            if variant.program is None:
                rows.append((f"graph {graph.number}", "the whole graph", variant.reason))
            else:
                rows += [(f"graph {graph.number}", h.name, h.reason) for h in variant.program.hosts]
    if not rows:
        return section("Host calls", "Nothing ran outside contract graphs.")
    text = "Operators and graphs that run eagerly, with the reasons."
    return section("Host calls", text, table(("where", "operator", "reason"), rows, False))


def _variant(graph: CompiledGraph, number: int, variant: Variant) -> Html:
    title = f"Graph {graph.number} ({graph.kind}), layout {number}"
    text = f"Arguments {format_arguments(variant)}."
    program = variant.program
    if program is None:
        return section(title, f"{text} It runs eagerly: {variant.reason}.")
    if not program.regions:
        return section(title, f"{text} It only returns its arguments.")
    if program.scope.ranges:
        text += f" It serves all sizes: {program.scope.text()}; shown for {_at(program)}."
    if variant.fixed:
        text += f" It is for these sizes only: {variant.fixed}."
    return section(title, text, *_parts(program))


def _at(program: Program) -> str:
    return ", ".join(f"{name} = {size}" for name, size in program.example.items())


def _parts(program: Program) -> Iterator[Html]:
    rows = []
    ways: Counter[str] = Counter(host=len(program.hosts))
    for part, region in enumerate(program.regions):
        for place, how, detail in _calls(program, part):
            ways[how] += 1
            call = region.calls[place]
            shapes = (", ".join(map(str, ref.shape)) for ref, writes in call.uses() if writes)
            number = place + part / 1000
            rows.append(
                ((f"{part}.{place}", number), call.operator, f"[{next(shapes, '')}]", detail)
            )
    present = [how for how in _HOW if ways[how]]
    yield strip([(_WORDS[how], float(ways[how]), _HOW[how]) for how in present])
    yield key([(_HOW[how], f"{_WORDS[how]}: {ways[how]}") for how in present])
    for part, region in enumerate(program.regions):
        yield from _memory(part, region, program.example)
    if len(rows) > MOST_CALLS:
        yield paragraph(f"The first {MOST_CALLS} of {len(rows)} calls:")
    yield table(("call", "operator", "writes", "how it runs"), rows[:MOST_CALLS])


def _calls(program: Program, part: int) -> Iterator[tuple[int, str, str]]:
    """Yield index, kind of execution and its description for each call of a contract graph."""
    engine = program.engine
    tiling = program.tilings[part]
    group = {
        place: f"{blocks} blocks, group {order}"
        for order, (places, blocks) in enumerate(zip(tiling.groups, tiling.blocks, strict=True))
        for place in places
    }
    for place in range(len(program.regions[part].calls)):
        if engine.runs(part):
            yield place, "engine", engine.name
        elif place in group:
            yield place, "blocks", group[place]
        else:
            reason = tiling.reasons.get(place)
            yield place, "whole", f"whole, because {reason}" if reason else "whole"


def _memory(part: int, region: Region, sizes: Sizes) -> Iterator[Html]:
    plan = graph_of(region.runnable(), "run " + region.text).graph.plan(ENTRY, **sizes)
    picture = memory_picture(region.document["entries"][ENTRY], plan, sizes)
    if not picture:
        yield paragraph(f"Contract graph {part} has no temporaries.")
        return
    yield paragraph(
        f"Temporaries of contract graph {part}: {format_bytes(plan.bytes)} in one block; at most "
        f"{format_bytes(plan.most_live)} live at once, {format_bytes(plan.apart)} without sharing "
        "memory. Temporaries of groups that run block by block need only a block's memory."
    )
    yield picture
