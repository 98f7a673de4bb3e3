"""Compilation of all graphs' kernels ahead of time."""

from __future__ import annotations

from dl_dicp.compiled import all_graphs


def build_kernels_of_all_graphs() -> tuple[int, list[str]]:
    """Build the kernels of all graphs of this process.

    :returns: the number of graphs that have kernels, and the reasons why other graphs have none.
    """
    variants = [variant for graph in all_graphs for variant in graph.variants]
    engines = [variant.program.engine for variant in variants if variant.program is not None]
    for engine in engines:
        engine.begin_builds()
    outcomes = [outcome for engine in engines for outcome in engine.finish_builds()]
    return outcomes.count(""), list(filter(None, outcomes))
