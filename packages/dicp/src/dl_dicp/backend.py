"""The backend ``dl`` of ``torch.compile``."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from torch.fx import GraphModule

from dl_core.torch_backend.graph_observers import observe
from dl_dicp.compiled import CompiledGraph
from dl_dicp.engines import registry
from dl_dicp.engines.names import DEFAULT
from dl_dicp.folding.graph import compile_graph
from dl_dicp.options import Options
from dl_dicp.recording import checkpoints
from dl_dicp.recording.decompositions import DECOMPOSITIONS
from dl_dicp.recording.identities import return_arguments
from dl_dicp.recording.inplace import write_in_place
from dl_dicp.recording.whole_operators import whole_operators


def dl(
    module: GraphModule,
    example_inputs: Sequence[Any],
    *,
    options: Mapping[str, Any] | None = None,
    mode: str | None = None,
) -> Callable[..., Any]:
    """Compile a Dynamo graph.

    AOTAutograd functionalizes the graph and, if gradients are needed, partitions it into a forward
    and a backward graph. Each of them becomes contract graphs.

    :param options: see :class:`~dl_dicp.compiled.Options`.
    :raises ValueError: an option is unknown, or ``mode`` is given, which the backend does not have.
    """
    from torch._dynamo.backends.common import aot_autograd
    from torch._functorch.partitioners import min_cut_rematerialization_partition

    if mode not in (None, "default"):
        raise ValueError(f"[dl] the backend has no modes, but mode is {mode!r}; leave it out")
    if not isinstance(options or {}, Mapping):
        raise ValueError(f"[dl] options={options!r} is not a dictionary of options by name")
    known = {each.name for each in dataclasses.fields(Options)}
    unknown = sorted(map(str, set(options or {}) - known))
    if unknown:
        raise ValueError(
            f"[dl] unknown options {', '.join(unknown)}; expected {', '.join(sorted(known))}"
        )
    chosen = Options(**dict(options or {}))
    remarks: list[str] = []
    return_arguments(module)
    whole = registry.engine_class(chosen.engine).compile_module(module, example_inputs, chosen)
    if callable(whole):
        return whole
    if whole is not None:
        remarks.append(whole)
        chosen = dataclasses.replace(chosen, engine=DEFAULT)

    def compile_part(part: GraphModule) -> Callable[[list[Any]], Any]:
        return CompiledGraph(part, "part", dataclasses.replace(chosen, check=False, frozen=False))

    def compiler(kind: str) -> Callable[..., Any]:
        def compile_one(graph: GraphModule, _: Sequence[Any]) -> Callable[[list[Any]], Any]:
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
        return made(module, example_inputs)
