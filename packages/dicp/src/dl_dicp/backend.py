"""The backend ``dl`` of ``torch.compile``."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from torch.fx import GraphModule

from dl_core.torch_backend.graph_observers import observe
from dl_dicp import modes
from dl_dicp.aliases import check_overlap
from dl_dicp.compiled import CompiledGraph
from dl_dicp.engines import registry
from dl_dicp.engines.names import DEFAULT
from dl_dicp.folding.graph import compile_graph
from dl_dicp.options import Options
from dl_dicp.recording import checkpoints
from dl_dicp.recording.decompositions import DECOMPOSITIONS
from dl_dicp.recording.flex_attention import expand_attention
from dl_dicp.recording.identities import return_arguments
from dl_dicp.recording.inplace import write_in_place
from dl_dicp.recording.whole_operators import whole_operators

OPTION_NAMES = frozenset(each.name for each in dataclasses.fields(Options))


def dl(
    module: GraphModule,
    example_inputs: Sequence[Any],
    *,
    options: Mapping[str, Any] | None = None,
    mode: str | None = None,
    inductor: Mapping[str, Any] | None = None,
) -> Callable[..., Any]:
    """Compile a Dynamo graph.

    AOTAutograd functionalizes the graph and, if gradients are needed, partitions it into a forward
    and a backward graph. Each of them becomes contract graphs.

    :param options: see :class:`~dl_dicp.options.Options`.
    :param mode: a mode of ``torch.compile``, see :mod:`dl_dicp.modes`.
    :param inductor: Inductor's settings, which ``torch.compile`` without a backend passes instead
        of a mode.
    :raises ValueError: an option or the mode is unknown.
    """
    from torch._dynamo.backends.common import aot_autograd
    from torch._functorch.partitioners import min_cut_rematerialization_partition

    settings = modes.settings_of_mode(mode)
    if inductor is not None:
        settings = modes.with_global_settings({**settings, **inductor})
    if not isinstance(options or {}, Mapping):
        raise ValueError(f"[dl] options={options!r} is not a dictionary of options by name")
    unknown = sorted(map(str, set(options or {}) - OPTION_NAMES))
    if unknown:
        raise ValueError(
            f"[dl] unknown options {', '.join(unknown)}; expected {', '.join(sorted(OPTION_NAMES))}"
        )
    chosen = Options(**{**modes.options_for(settings, example_inputs), **(options or {})})
    remarks: list[str] = []
    return_arguments(module)
    whole = registry.engine_class(chosen.engine).compile_module(module, example_inputs, chosen)
    if callable(whole):
        return check_overlap(module, whole, example_inputs)
    if whole is not None:
        remarks.append(whole)
        chosen = dataclasses.replace(chosen, engine=DEFAULT)

    def compile_part(part: GraphModule) -> Callable[[list[Any]], Any]:
        return CompiledGraph(part, "part", dataclasses.replace(chosen, check=False, frozen=False))

    def compiler(kind: str) -> Callable[..., Any]:
        def compile_one(graph: GraphModule, _: Sequence[Any]) -> Callable[[list[Any]], Any]:
            expand_attention(graph, DECOMPOSITIONS)
            write_in_place(graph)
            return observe(
                graph, kind, compile_graph(graph, kind, chosen, list(remarks)), compile_part
            )

        return compile_one

    made = aot_autograd(
        fw_compiler=compiler("forward"),
        bw_compiler=compiler("backward"),
        inference_compiler=compiler("inference"),
        partition_fn=min_cut_rematerialization_partition,
        keep_inference_input_mutations=True,
        decompositions=DECOMPOSITIONS,
    )
    checkpoints.register()
    with whole_operators():
        return check_overlap(module, made(module, example_inputs), example_inputs)


# `torch.compile` without a backend accepts these options in addition to those of Inductor.
dl.option_names = OPTION_NAMES  # type: ignore[attr-defined]
