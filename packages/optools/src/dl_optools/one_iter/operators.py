"""Recording of the inputs and results of every torch function in a step, for :class:`.OneIter`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import torch
from torch.utils._pytree import keystr, tree_flatten_with_path

from dl_optools.backward_graph import GradientWatch, Watches
from dl_optools.bundle.errors import NotStorableError
from dl_optools.bundle.values import Table, encode
from dl_optools.call import OpCall
from dl_optools.names import Level
from dl_optools.one_iter.folder import Record
from dl_optools.one_iter.forcing import Forcing
from dl_optools.operators import is_known
from dl_optools.tensors import tensors_of
from dl_optools.tool import Tool


def label_tensors(tree: Any) -> dict[str, torch.Tensor]:
    """Return the tensors of a tree, named by their position."""
    leaves, _ = tree_flatten_with_path(tree)
    return {keystr(path): x for path, x in leaves if isinstance(x, torch.Tensor)}


def label_arguments(args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, torch.Tensor]:
    """Return the tensors of a call, named by their position in its arguments."""
    return {
        **{f"args{place}": x for place, x in label_tensors(tuple(args)).items()},
        **{f"kwargs{place}": x for place, x in label_tensors(dict(kwargs)).items()},
    }


class StepRecorder(Protocol):
    """The recorder of a step, as far as operators use it; see :class:`.recording.OneIter`.

    :ivar optimizer: the step of an optimizer is running.
    :ivar watches: watches of backward passes that have not run yet.
    """

    forcing: Forcing | None
    optimizer: bool
    watches: Watches

    @property
    def module(self) -> str:
        """Path of the running module."""

    def new_record(self, kind: str, name: str, module: str, phase: str = "forward") -> Record:
        """Create a record with the next number of its kind."""

    def store(self, tensors: Mapping[str, torch.Tensor]) -> dict[str, str]:
        """Store the current content of tensors, and return their hashes."""

    def append(self, record: Record) -> None:
        """Append a completed event to the records."""

    def watch(self, record: Record, inputs: Mapping[str, torch.Tensor]) -> GradientWatch:
        """Return the watch that will record the backward of a call."""


class OperatorRecording(Tool):
    """Records functions of torch, and applies the owner's ``teacher_forcing``."""

    variable = "ONE_ITER"
    default_level = Level.API

    def __init__(self, owner: StepRecorder) -> None:
        super().__init__()
        self._owner = owner

    def wants(self, name: str, function: Any) -> bool:
        return super().wants(name, function) and is_known(name, Level.API)

    def applies(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool:
        # Count calls on all devices: the numbers must not depend on where the step runs.
        return True

    def handle(self, call: OpCall) -> Any:
        owner = self._owner
        phase = "step" if owner.optimizer else "forward"
        record = owner.new_record("operator", call.name, owner.module, phase)
        inputs = label_arguments(call.args, call.kwargs)
        if owner.forcing is not None:
            owner.forcing.inputs(record, inputs)
        record.inputs = owner.store(inputs)
        replay = _replay(call, inputs)
        given = tensors_of(call.args, call.kwargs)
        versions = [_version(x) for x in given]
        states = random_states(given)
        watch = owner.watch(record, inputs)
        result = call.proceed()
        written = [
            at
            for at, (x, before) in enumerate(zip(given, versions, strict=True))
            if before is None or _version(x) != before
        ]
        ours = {id(given[at]) for at in written}
        outputs = {
            f"output{place}": x for place, x in label_tensors(result).items() if id(x) not in ours
        }
        outputs |= {f"argument {at}": given[at] for at in written}
        record.random = differ(states, random_states(given))
        if owner.forcing is not None and record.random:
            owner.forcing.outputs(record, outputs)
        record.outputs = owner.store(outputs)
        if replay is not None:
            record.replay = {**replay, "written": written}
        if not record.inputs and not record.outputs:
            return result
        owner.append(record)
        if owner.forcing is not None:
            owner.forcing.gradients(record, outputs)
        if watch.attach(list(outputs.values())):
            owner.watches.add(watch)
        return result


def _replay(call: OpCall, inputs: Mapping[str, torch.Tensor]) -> dict[str, Any] | None:
    """Return the arguments as JSON, with the names of tensors; see :mod:`.bundle.values`."""
    table = Table()
    try:
        args, kwargs = encode(tuple(call.args), table), encode(dict(call.kwargs), table)
    except NotStorableError:
        return None
    places = {id(x): place for place, x in inputs.items()}
    if len(table.tensors) != len(table.own) or any(id(x) not in places for x in table.own):
        return None
    device = next((x.device.type for x in table.own), "cpu")
    return {
        "args": args,
        "kwargs": kwargs,
        "tensors": [places[id(x)] for x in table.own],
        "needs_gradient": [x.requires_grad for x in table.own],
        "autocast": _autocast(device),
    }


def _autocast(device: str) -> str | None:
    if not torch.is_autocast_enabled(device):
        return None
    return str(torch.get_autocast_dtype(device)).removeprefix("torch.")


def differ(before: Sequence[torch.Tensor], after: Sequence[torch.Tensor]) -> bool:
    """Return True if a generator's state advanced."""
    return any(not x.equal(y) for x, y in zip(before, after, strict=True))


def random_states(given: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """Return the states of the generators that a call may draw from."""
    states = [torch.get_rng_state()]
    for device in sorted(
        {x.device for x in given if x.device.type not in ("cpu", "meta")}, key=str
    ):
        module = torch.get_device_module(device)
        if hasattr(module, "get_rng_state"):
            states.append(module.get_rng_state(device))
    return states


def _version(tensor: torch.Tensor) -> int | None:
    return None if tensor.is_inference() else int(tensor._version)
