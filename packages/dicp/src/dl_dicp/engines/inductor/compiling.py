"""Inductor's pipeline from a Dynamo graph to compiled graphs, with code generation for the CPU.

The passes before code generation, AOTAutograd and the partitioner see the tensors of the device.
Gradients, views and in-place writes are therefore those of the device.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch.fx import GraphModule

from dl_dicp.engines.inductor.attention import DECOMPOSITIONS
from dl_dicp.engines.inductor.graph import InductorGraph, SharedState
from dl_dicp.engines.inductor.host_graph import host_graph
from dl_dicp.engines.inductor.reasons import (
    DeclinedError,
    check_compiler,
    check_graph,
    device_among,
    first_line,
)

if TYPE_CHECKING:
    from dl_dicp.options import Options


def compile_by_inductor(
    module: GraphModule, examples: Sequence[Any], options: Options
) -> Callable[..., Any]:
    """Return a function that runs a Dynamo graph.

    :raises DeclinedError: Inductor cannot compile the graph. Nothing has run.
    """
    from torch._dynamo.exc import RestartAnalysis
    from torch._functorch import config
    from torch._inductor.compile_fx import compile_fx
    from torch._inductor.decomposition import select_decomp_table

    device = device_among(examples)
    check_compiler()
    shared = SharedState()

    def inner(graph: GraphModule, inputs: Sequence[Any], **kwargs: Any) -> Any:
        kind = "inference" if kwargs.get("is_inference") else "forward"
        if not kwargs.get("is_backward"):
            return _compile_part(graph, kind, inputs, device, options, shared, kwargs)
        try:
            return _compile_part(graph, "backward", inputs, device, options, shared, kwargs)
        except Exception as error:  # noqa: BLE001 - the forward graph has already run
            made = InductorGraph(graph, "backward", options, shared)
            made.drop(_as_declined(error))
            return made

    table = {**select_decomp_table(), **DECOMPOSITIONS}
    # This rule needs the device's code generator, which dl does not have; the CPU does not need it.
    table.pop(torch.ops.aten.masked_scatter.default, None)
    try:
        # Torch's cache on disk holds only Inductor's own code objects.
        with config.patch(enable_autograd_cache=False):
            made: Any = compile_fx(module, examples, inner_compile=inner, decompositions=table)
            return made  # type: ignore[no-any-return]
    except RestartAnalysis:
        raise  # Dynamo restarts its analysis with more information
    except Exception as error:
        raise _as_declined(error) from error


def _as_declined(error: Exception) -> DeclinedError:
    """Convert any error, so that the default engine runs the graph. It reports errors of the graph
    itself.
    """
    if isinstance(error, DeclinedError):
        return error
    return DeclinedError(f"Inductor did not compile it: {first_line(error)}", is_fault=True)


def _compile_part(
    graph: GraphModule,
    kind: str,
    inputs: Sequence[Any],
    device: torch.device,
    options: Options,
    shared: SharedState,
    kwargs: dict[str, Any],
) -> InductorGraph:
    from torch._inductor.compile_fx import compile_fx_inner, fake_tensor_prop
    from torch._inductor.decomposition import select_decomp_table
    from torch._inductor.fx_passes.post_grad import view_to_reshape

    # The arguments of a backward graph have strides that Inductor's forward graph has chosen.
    view_to_reshape(graph)
    graph.recompile()
    made = InductorGraph(graph, kind, options, shared)
    if shared.dropped:
        made.drop(DeclinedError(shared.dropped))
        return made
    check_graph(graph)
    host = host_graph(graph, inputs, device)
    fake_tensor_prop(host.module, host.inputs)
    # Use torch's own table: results that depend on unnamed options are not cached on disk.
    options_of_host = {**kwargs, "get_decomp_fn": select_decomp_table}
    compiled = compile_fx_inner(host.module, host.inputs, **options_of_host)
    made.run_by(compiled, host, device)
    return made
