"""Comparison of a graph file with the program that it was exported from."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind, OutputKind
from torch.utils._pytree import tree_flatten

from diopi_proto.host import load_vendor
from dl_dicp.export.exporter import arguments_of
from dl_dicp.program.rounding import first_difference
from dl_graph import ContractGraph, Session


def differing_output(
    graph: ContractGraph, programs: Mapping[str, ExportedProgram], library: Path
) -> str:
    """Run each entry without torch from the initial state, and its program on the CPU, both with
    the program's example inputs.

    :param library: library of the vendor that runs the graph.
    :returns: the entry and the output that differ by more than rounding; empty if none differs.
    :raises diopi_proto.errors.DiopiError: the graph does not run.
    """
    with load_vendor(library) as vendor:
        for entry, program in programs.items():
            with Session(graph, vendor) as session:
                found = session.run(entry, _inputs(program))
            place = _difference(program, found)
            if place is not None:
                return f"{entry}: {list(found)[place]}"
    return ""


def _inputs(program: ExportedProgram) -> dict[str, Any]:
    specs = program.graph_signature.input_specs
    names = [str(spec.arg.name) for spec in specs if spec.kind == InputKind.USER_INPUT]
    given = tree_flatten(program.example_inputs)[0]
    return {
        name: _array(value)
        for name, value in zip(names, given, strict=True)
        if isinstance(value, torch.Tensor)
    }


def _array(tensor: torch.Tensor) -> Any:
    """Return a copy that the graph may write to; bfloat16 is returned as bits."""
    host = tensor.detach().cpu().clone().contiguous()
    return (host.view(torch.uint16) if host.dtype == torch.bfloat16 else host).numpy()


def _tensor(array: Any, dtype: torch.dtype) -> torch.Tensor:
    made = torch.from_numpy(np.array(array))  # np.array: a scalar has no dimensions
    return made.view(dtype) if dtype == torch.bfloat16 else made.to(dtype)


def _copied(value: Any) -> Any:
    return value.clone() if isinstance(value, torch.Tensor) else value


def _difference(program: ExportedProgram, found: Mapping[str, Any]) -> int | None:
    """Return the index of the first output in which the graph differs from the program."""
    module = program.graph_module
    arguments = arguments_of(program)
    with torch.no_grad():
        results = list(module(*map(_copied, arguments)))
        outputs = program.graph_signature.output_specs
        shown = [i for i, spec in enumerate(outputs) if spec.kind == OutputKind.USER_OUTPUT]
        made = list(results)
        for place, array in zip(shown, found.values(), strict=True):
            made[place] = _tensor(array, results[place].dtype)
        first = first_difference(module, arguments, made, results)
    return None if first is None else shown.index(first)
