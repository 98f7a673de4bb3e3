"""Conversion of exported programs to a contract graph that runs without torch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind, InputSpec, OutputKind, TensorArgument
from torch.fx import GraphModule
from torch.utils._pytree import tree_flatten

from diopi_proto.dtypes import dtype_of, to_storage
from dl_core.torch_backend.devices import get_device_properties
from dl_dicp.errors import FixedSizesError, NotCompiledError
from dl_dicp.export.entries import Part, join_graphs
from dl_dicp.folding.split import split
from dl_dicp.program.document import ENTRY, FIXED, EntryWriter, Scope
from dl_dicp.program.rounding import first_difference
from dl_dicp.recording.calls import Call
from dl_dicp.recording.decompositions import DECOMPOSITIONS
from dl_dicp.recording.generators import generators_as_they_are
from dl_dicp.recording.memory import TORCH_DTYPES, Block, Ref
from dl_dicp.recording.recorder import Recorder
from dl_dicp.recording.shapes import shapes_of
from dl_dicp.recording.trace import Host, Lowered, Trace
from dl_dicp.sizes.all_sizes import FirstCall, for_all_sizes
from dl_graph import ContractGraph, read
from dl_graph.errors import GraphError
from dl_graph.file import ConstantTensor, pack

_MUTATIONS = (OutputKind.BUFFER_MUTATION, OutputKind.USER_INPUT_MUTATION)


class ExportError(Exception):
    """A program cannot be converted to a graph; the message has the cause and the remedy."""


def export(program: ExportedProgram, device: torch.device | None = None) -> ContractGraph:
    """Return a verified graph of a program. Parameters become constants, mutated buffers become
    states. Dynamic sizes become symbols of the graph, with a minimum of 2. Values that depend
    only on parameters are computed now.

    The program is recorded with its example inputs and, if sizes are dynamic, once more at other
    sizes.

    :param device: dl device on which to record; None for the current one.
    :raises ExportError: an operator would need the host, one graph cannot serve all sizes, or
        no dl device is available.
    """
    return export_entries({ENTRY: program}, device)


def export_entries(
    programs: Mapping[str, ExportedProgram], device: torch.device | None = None
) -> ContractGraph:
    """Return a verified graph of several programs, which become its entries; see :func:`export`.
    Parameters with equal names and contents become one constant, buffers with equal names become
    one state.

    :raises ExportError: as :func:`export`, or the initial contents of states with the same name
        differ.
    """
    device = device or device_of(None)
    programs = {name: each.run_decompositions(DECOMPOSITIONS) for name, each in programs.items()}
    changed = {
        str(spec.target)
        for program in programs.values()
        for spec in program.graph_signature.output_specs
        if spec.kind in _MUTATIONS
    }
    parts = {}
    for name, program in programs.items():
        try:
            parts[name] = _part(program, device, changed)
        except ExportError as error:
            if len(programs) == 1:
                raise
            raise ExportError(f"entry {name}: {error}") from error
    try:
        whole = join_graphs(parts)
    except ValueError as error:
        raise ExportError(str(error)) from error
    try:
        return read(pack(whole.document, whole.contents), "an exported program")
    except GraphError as error:
        raise ExportError(f"the verifier rejected the graph: {error}") from error


def _part(program: ExportedProgram, device: torch.device, changed: set[str]) -> Part:
    """Convert a functional program to a graph with one entry.

    :param changed: buffers that any program of the graph mutates.
    """
    specs = list(program.graph_signature.input_specs)
    arguments = [
        a.detach().to(device).contiguous() if isinstance(a, torch.Tensor) else a
        for a in arguments_of(program)
    ]
    graph = program.graph_module
    _on_device(graph, device)
    with torch.no_grad(), generators_as_they_are(device) as rewind:
        graph, specs, arguments = _folded(graph, specs, arguments, changed)
        before = [a.clone() if isinstance(a, torch.Tensor) else a for a in arguments]
        rewind()
        results, trace = Recorder(graph, device).run(arguments)
        if isinstance(trace, NotCompiledError):
            raise ExportError(f"the program cannot become a contract graph: {trace}")
        call = FirstCall(trace, arguments, before, [*results, *arguments], rewind, {})
        trace, scope = _of_all_sizes(program, graph, call)
    return _graph_of_trace(program, specs, trace, scope, before)


def _folded(
    graph: GraphModule, specs: list[InputSpec], arguments: list[Any], changed: set[str]
) -> tuple[GraphModule, list[InputSpec], list[Any]]:
    """Return the graph with the values that depend only on parameters as arguments. Return the
    original graph if there are none, or if its results would change by more than rounding."""
    places = [
        place
        for place, spec in enumerate(specs)
        if spec.kind != InputKind.USER_INPUT and spec.target not in changed
    ]
    parts = split(graph, places)
    if parts is None:
        return graph, specs, arguments
    values = [each.contiguous() for each in parts.once(*(arguments[i] for i in parts.sources))]
    given = [*(arguments[place] for place in parts.kept), *values]
    if parts.norms:
        pair = list(parts.rest(*given)), list(graph(*arguments))
        if first_difference(graph, arguments, *pair) is not None:
            return graph, specs, arguments
    names = [node.name for node in parts.rest.graph.nodes if node.op == "placeholder"]
    made = [
        InputSpec(InputKind.CONSTANT_TENSOR, TensorArgument(name), name)
        for name in names[len(parts.kept) :]
    ]
    return parts.rest, [*(specs[place] for place in parts.kept), *made], given


def _of_all_sizes(
    program: ExportedProgram, graph: GraphModule, call: FirstCall
) -> tuple[Trace, Scope]:
    """Record a program for all sizes that it accepts."""
    try:
        shapes = shapes_of(graph, program.range_constraints)
        if shapes is not None:
            made = for_all_sizes(graph, shapes, call, set(), "contract")
            return made.trace, made.scope
    except FixedSizesError as error:
        raise ExportError(
            f"the program cannot serve all sizes: {error}; export it without dynamic_shapes, once "
            "for each size"
        ) from error
    call.trace.fold()
    return call.trace, FIXED


def device_of(vendor: str | None) -> torch.device:
    """Return a device of a vendor, or the current device if ``vendor`` is None.

    :raises ExportError: no such device is available.
    """
    if not torch.accelerator.is_available() or not hasattr(torch, "dl"):
        raise ExportError("no dl device is available to record the program on; see `dl doctor`")
    if vendor is None:
        return torch.device("dl", torch.dl.current_device())
    known = [get_device_properties(index).vendor for index in range(torch.dl.device_count())]
    if vendor not in known:
        there = ", ".join(dict.fromkeys(known))
        raise ExportError(f"no device of the vendor {vendor!r} is available, only of {there}")
    return torch.device("dl", known.index(vendor))


def arguments_of(program: ExportedProgram) -> list[Any]:
    """Return the arguments of a program's graph: parameters, buffers and example inputs.

    :raises ExportError: an argument is something else.
    """
    inputs = iter(tree_flatten(program.example_inputs)[0])
    return [_argument(program, spec, inputs) for spec in program.graph_signature.input_specs]


def _argument(program: ExportedProgram, spec: InputSpec, inputs: Iterator[Any]) -> Any:
    if spec.kind == InputKind.USER_INPUT:
        return next(inputs)
    if spec.kind == InputKind.PARAMETER:
        return program.state_dict[spec.target]
    if spec.kind == InputKind.BUFFER and spec.persistent:
        return program.state_dict[spec.target]
    if spec.kind in (InputKind.BUFFER, InputKind.CONSTANT_TENSOR):
        return program.constants[spec.target]
    raise ExportError(f"the program takes a {spec.kind.name.lower()}, which graphs do not support")


def _on_device(graph: GraphModule, device: torch.device) -> None:
    """Make factory functions of the graph create tensors on the device."""
    for node in graph.graph.nodes:
        if "device" in node.kwargs:
            node.kwargs = {**node.kwargs, "device": device}


def _graph_of_trace(
    program: ExportedProgram,
    specs: list[InputSpec],
    trace: Trace,
    scope: Scope,
    before: list[Any],
) -> Part:
    """Build the graph of a recorded program.

    :param specs: specifications of its arguments.
    :param before: the arguments as they were before the run.
    """
    hosts = [step for step in trace.steps if isinstance(step, Host)]
    if hosts:
        said = "; ".join(f"{host.name}: {host.reason}" for host in hosts)
        raise ExportError(f"operators would have to run on the host: {said}")
    outputs = program.graph_signature.output_specs
    results = tree_flatten(trace.output)[0]
    changed = {spec.target for spec in outputs if spec.kind in _MUTATIONS}
    # An input that a contract operator may write to must not be a constant.
    written = {ref.block for call in _calls(trace) for ref, writes in call.uses() if writes}
    places = _Places()
    for ref, spec, value in zip(trace.arguments, specs, before, strict=True):
        if isinstance(ref, Ref):
            places.add(ref, spec, value, ref.block in written or spec.target in changed)
    for slot, value in trace.constants.items():
        places.add_constant(trace, slot, value)
    known = places.users.keys() | places.names.keys()
    made = {ref.block for ref in results if isinstance(ref, Ref)} - known
    writer = EntryWriter(known.__contains__, made, scope)
    for block in places.users:
        writer.storage(block)
    for call in _calls(trace):
        writer.call(call)
    names: set[str] = set()
    for spec, ref in zip(outputs, results, strict=True):
        if not isinstance(ref, Ref):
            raise ExportError(f"the program returns {spec.arg}, which is not a device tensor")
        if spec.kind == OutputKind.USER_OUTPUT:
            # A tensor may be returned twice.
            name = str(spec.arg.name)
            while name in names:
                name += "_again"
            names.add(name)
            writer.output(name, ref)
        elif spec.kind in _MUTATIONS:
            target = places.targets[str(spec.target)]
            writer.call(Call("diopiCopyInp", {"src": ref, "dest": target}))
    document = writer.document()
    places.name(document, writer)
    stored = {name: _constant(tensor) for name, tensor in places.contents.items()}
    return Part(document, stored)


def _calls(trace: Trace) -> Iterator[Call]:
    for step in trace.steps:
        if isinstance(step, Lowered):
            yield from step.calls


class _Places:
    """Storages of a graph file for the blocks of a program's arguments.

    :ivar users: names of inputs.
    :ivar names: names of constants and states.
    :ivar targets: tensors that the program may mutate, by their name in its signature.
    :ivar contents: contents of constants, and initial contents of states.
    """

    def __init__(self) -> None:
        self.users: dict[Block, str] = {}
        self.names: dict[Block, str] = {}
        self.targets: dict[str, Ref] = {}
        self.contents: dict[str, torch.Tensor] = {}
        self._states: dict[str, int] = {}

    def add(self, ref: Ref, spec: InputSpec, value: torch.Tensor, changes: bool) -> None:
        """Add an argument."""
        if spec.kind == InputKind.USER_INPUT:
            self.users[ref.block] = self._known(str(spec.arg.name), ref)
            return
        name = self.names[ref.block] = self._known(str(spec.target), ref)
        self.contents[name] = value
        if changes:
            self._states[name] = ref.block.size

    def _known(self, name: str, ref: Ref) -> str:
        self.targets[name] = ref
        return name

    def add_constant(self, trace: Trace, slot: int, value: torch.Tensor) -> None:
        """Add the result of an operator without tensor arguments as a constant, if it is used."""
        for call in _calls(trace):
            for ref, _ in call.uses():
                if ref.block.slot == slot and ref.block not in self.names:
                    self.names[ref.block] = f"made.{slot}"
                    self.contents[f"made.{slot}"] = value.contiguous()

    def name(self, document: dict[str, Any], writer: EntryWriter) -> None:
        """Turn inputs that are parameters or buffers into constants and states."""
        entry = document["entries"][ENTRY]
        ports, entry["inputs"] = entry["inputs"], []
        for port, block in zip(ports, writer.inputs, strict=True):
            if block in self.users:
                entry["inputs"].append({"name": self.users[block], "value": port["value"]})
                continue
            name = self.names[block]
            kind = "state" if name in self._states else "constant"
            entry["storages"][writer.storages[block]] = {"kind": kind, "name": name}
        document["states"] = [
            {"name": name, "bytes": size, "initial": name} for name, size in self._states.items()
        ]


def _constant(tensor: torch.Tensor) -> ConstantTensor:
    """Return a constant in the numpy dtype that stores its dtype."""
    dtype = dtype_of(TORCH_DTYPES[tensor.dtype])
    host = tensor.detach().cpu().contiguous()
    if dtype.name == "bfloat16":
        return ConstantTensor(dtype, host.view(torch.uint16).numpy())
    return ConstantTensor(dtype, to_storage(host.numpy(), dtype))
