"""Text report about the graphs of this process."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from dl_dicp.compiled import CompiledGraph, all_graphs
from dl_dicp.patterns.rewrite import Rewriting
from dl_dicp.program.tiling import counted, describe
from dl_dicp.statistics import statistics
from dl_dicp.variant import Variant

MOST_ARGUMENTS = 6
"""Maximum number of argument shapes that are shown."""


def explain() -> str:
    """Return a report: for each graph its argument layouts, contract operators, host calls and
    eager runs with their reasons; then the counters, and the reasons for Dynamo's
    recompilations."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    graphs = sorted(all_graphs, key=lambda graph: graph.number)
    if not graphs:
        yield 'No graph was compiled: the program calls no torch.compile(..., backend="dl").'
        return
    for graph in graphs:
        yield from _graph(graph)
    seen = statistics.snapshot()
    yield ""
    yield (
        f"in total: {seen.compiled} programs, {seen.graphs} runs of contract graphs with "
        f"{seen.calls} calls, {seen.tiled_calls} of them block by block, {seen.host_calls.total()} "
        f"host calls, {seen.eager.total()} eager runs, {seen.cache_hits} graphs from the cache"
    )
    for name, count in seen.engine_runs.items():
        yield f"graph engine {name}: {count} runs of graphs"
    for name, why in recompilations():
        yield f"Dynamo recompiled {name}: {why}"


def _graph(graph: CompiledGraph) -> Iterator[str]:
    nodes = sum(node.op == "call_function" for node in graph.module.graph.nodes)
    yield f"graph {graph.number} ({graph.kind}): {nodes} nodes"
    yield from (f"  {remark}" for remark in graph.remarks)
    if not graph.variants and not graph.remarks:
        yield "  never called"
    for variant in graph.variants:
        yield from _variant(variant)


def _variant(variant: Variant) -> Iterator[str]:
    yield f"  arguments {format_arguments(variant)}"
    if variant.fixed:
        yield f"    for these sizes only: {variant.fixed}"
    program = variant.program
    if program is None:
        yield f"    runs eagerly: {variant.reason}"
        return
    if program.scope.ranges:
        yield f"    for all sizes: {program.scope.text()}"
    if variant.rewriting is not None:
        yield from _patterns(variant.rewriting)
    if program.engine.problem:
        yield f"    no graph engine {program.engine.name}: {program.engine.problem}"
    for place, (region, tiling) in enumerate(zip(program.regions, program.tilings, strict=True)):
        yield f"    contract graph, {len(region.calls)} calls: {counted(region.calls)}"
        lines = [] if program.engine.takes(place) else describe(region.calls, tiling)
        of_engine = [line for index, line in program.engine.lines() if index == place]
        for line in [*lines, *of_engine]:
            yield f"      {line}"
    if not program.regions:
        yield "    no contract graph: it only returns its arguments"
    for host in program.hosts:
        yield f"    host call {host.name}: {host.reason}"


def format_arguments(variant: Variant) -> str:
    """Format the shapes of the first arguments."""
    shown = ", ".join(
        str(list(shape)) if isinstance(shape, tuple) else str(shape)
        for shape in variant.shapes[:MOST_ARGUMENTS]
    )
    more = len(variant.shapes) - MOST_ARGUMENTS
    return shown + (f" and {more} more" if more > 0 else "")


def _patterns(done: Rewriting) -> Iterator[str]:
    for name, count in Counter(done.fired).items():
        yield f"    pattern {name}: {count} rewritten"
    for (name, why), count in Counter(done.declined).items():
        yield f"    pattern {name} left {count} alone, because {why}"


def recompilations() -> Iterator[tuple[str, str]]:
    """Yield what Dynamo recompiled: the function, and the guard that failed."""
    from torch._dynamo.utils import guard_failures

    for code, failures in guard_failures.items():
        for failure in failures:
            reason = failure[0] if isinstance(failure, tuple) else failure
            yield code.co_name, str(reason)
