"""Teacher forcing: recorded values replace those that the device under test computed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch

from dl_optools.call import own_work
from dl_optools.one_iter.folder import OneIterError, Reader, Record
from dl_optools.tensors import grad_fn_of


def _fill(tensor: torch.Tensor, value: torch.Tensor) -> None:
    """Write into memory that autograd may have saved, without a change of its version."""
    target = tensor.detach()
    for dim, (size, stride) in enumerate(zip(target.size(), target.stride(), strict=True)):
        if stride == 0 and size > 1:
            # An expanded tensor has one element in memory for all.
            target, value = target.narrow(dim, 0, 1), value.narrow(dim, 0, 1)
    target.data.copy_(value)


class Forcing:
    """Writes values of a recorded step into the current step.

    They are written into the program's tensors: identity, aliasing and autograd's graph do not
    change. Tensors of another shape are left alone, which the comparison reports.
    """

    def __init__(self, trusted: Reader) -> None:
        self._trusted = trusted

    def load(self, state: Iterable[tuple[str, torch.Tensor]]) -> None:
        """Load the recorded weights and buffers into the model.

        :raises OneIterError: the recorded model has other weights or buffers.
        """
        for name, tensor in state:
            record = self._trusted.find(Record("weight", name).key)
            value = None if record is None else self._trusted.tensor(record.outputs["value"])
            if value is None or value.shape != tensor.shape:
                was = "nothing" if value is None else f"one of shape {tuple(value.shape)}"
                raise OneIterError(
                    f"[OneIter] the model has {name} of shape {tuple(tensor.shape)}, the reference "
                    f"{was}: it is another model"
                )
            _fill(tensor, value)

    def inputs(self, record: Record, tensors: Mapping[str, torch.Tensor]) -> None:
        """Replace the inputs of a call."""
        known = self._trusted.find(record.key)
        if known is not None:
            self._write(known.inputs, tensors)

    def outputs(self, record: Record, tensors: Mapping[str, torch.Tensor]) -> None:
        """Replace the results of a call."""
        known = self._trusted.find(record.key)
        if known is not None:
            self._write(known.outputs, tensors)

    def gradients(self, record: Record, outputs: Mapping[str, torch.Tensor]) -> None:
        """Replace the gradients that will arrive at a call's outputs."""
        key = Record(record.kind, record.name, record.module, record.call, "backward").key
        known = self._trusted.find(key)
        for place, x in outputs.items():
            name = None if known is None else known.inputs.get(f"gradient of {place}")
            node = grad_fn_of(x)
            if name is not None and node is not None:
                node.register_prehook(self._arriving(x.output_nr, name))

    def _arriving(self, number: int, name: str) -> Callable[..., Any]:
        def hook(gradients: tuple[torch.Tensor | None, ...]) -> Any:
            gradient = gradients[number]
            with own_work():
                value = self._trusted.tensor(name)
                if gradient is None or gradient.shape != value.shape:
                    return None
                forced = value.to(gradient.device, gradient.dtype)
            return (*gradients[:number], forced, *gradients[number + 1 :])

        return hook

    def _write(self, names: Mapping[str, str], tensors: Mapping[str, torch.Tensor]) -> None:
        for place, tensor in tensors.items():
            if place not in names:
                continue
            value = self._trusted.tensor(names[place])
            if value.shape == tensor.shape and tensor.layout == torch.strided:
                _fill(tensor, value)
