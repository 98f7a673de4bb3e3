"""CPU reference of a call: the same operator on copies of the arguments from before the call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils import _pytree

from diopi_proto.tolerance.torch_operators.comparison import to_host
from diopi_proto.tolerance.torch_operators.schema import Overload, Signature, signature

WIDE = {
    torch.float16: torch.float64,
    torch.bfloat16: torch.float64,
    torch.float32: torch.float64,
    torch.complex32: torch.complex128,
    torch.complex64: torch.complex128,
}
SAME: Mapping[torch.dtype, torch.dtype] = {}

Answers = list[tuple[str, Any]]
"""Results and written arguments of a call, with their labels in reports."""


@dataclass
class Copied:
    """The arguments of a call, copied before it ran.

    :ivar arguments: ``(args, kwargs)`` on the CPU; these tensors are never modified.
    :ivar read: for each device tensor that the call only reads: its label, the tensor, and its
        copy.
    """

    overload: Overload[Any, Any]
    facts: Signature
    arguments: tuple[tuple[Any, ...], dict[str, Any]]
    read: list[tuple[str, torch.Tensor, torch.Tensor]]

    def run(self, dtypes: Mapping[torch.dtype, torch.dtype]) -> Answers:
        """Return the CPU's results for converted arguments.

        :raises Exception: any error of the CPU's kernel.
        """
        args, kwargs = clone_tree(self.arguments, dtypes)
        return answers(self.facts, args, kwargs, self.overload(*args, **kwargs))


def copy_of(overload: Overload[Any, Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Copied:
    """Copy a call's arguments to the CPU; a tensor that occurs twice is copied once."""
    facts = signature(overload)
    copies: dict[tuple[Any, ...], torch.Tensor] = {}
    read: list[tuple[str, torch.Tensor, torch.Tensor]] = []

    def copied(value: Any) -> Any:
        if isinstance(value, torch.device):
            return torch.device("cpu")
        if not isinstance(value, torch.Tensor):
            return value
        key = _identity(value)
        if key not in copies:
            host = _on_cpu(value)
            copies[key] = host.clone() if host is value else host
        return copies[key]

    bound = {**dict(zip(facts.names, args, strict=False)), **kwargs}
    changed = {
        _identity(leaf)
        for name in facts.written
        for leaf in _pytree.tree_leaves(bound.get(name))
        if isinstance(leaf, torch.Tensor)
    }
    arguments = _pytree.tree_map(copied, (_with_tensors(overload, args), kwargs))
    for name, value in bound.items():
        for leaf in _pytree.tree_leaves(value):
            if not isinstance(leaf, torch.Tensor) or leaf.device.type == "cpu":
                continue
            if _identity(leaf) not in changed:
                read.append((name, leaf, copies[_identity(leaf)]))
    return Copied(overload, facts, arguments, read)


def answers(
    facts: Signature, args: tuple[Any, ...], kwargs: Mapping[str, Any], returned: Any
) -> Answers:
    """Return the results and written arguments of a call, labeled ``output 0``, or by the
    argument's name."""
    results = returned if len(facts.returned) != 1 else (returned,)
    found: Answers = []
    for at, (value, own) in enumerate(zip(results or (), facts.returned, strict=False)):
        found += _leaves(f"output {at}" if own is None else own, value)
    bound = facts.bind(tuple(args), kwargs)
    for name in facts.names:
        if name in facts.written and name not in facts.returned and name in bound:
            found += _leaves(name, bound[name])
    return found


def clone_tree(tree: Any, dtypes: Mapping[torch.dtype, torch.dtype]) -> Any:
    """Return a copy of the arguments in other dtypes."""
    memo: dict[int, torch.Tensor] = {}

    def convert(value: Any) -> Any:
        if isinstance(value, torch.dtype):
            return dtypes.get(value, value)
        if not isinstance(value, torch.Tensor):
            return value
        if id(value) not in memo:
            memo[id(value)] = value.to(dtypes.get(value.dtype, value.dtype), copy=True)
        return memo[id(value)]

    return _pytree.tree_map(convert, tree)


def on_host(values: Answers) -> Answers:
    """Return the values on the CPU, with lazy conjugation resolved."""
    return [
        (label, to_host(value) if isinstance(value, torch.Tensor) else value)
        for label, value in values
    ]


def _with_tensors(overload: Overload[Any, Any], args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Convert numbers to tensors where the schema has tensors, because most operators do not accept
    numbers there from Python."""
    base = overload._schema.name.partition("::")[2]
    tensors = [value for value in args if isinstance(value, torch.Tensor)]
    if not tensors or torch._C._should_allow_numbers_as_tensors(base):
        return args
    return tuple(
        torch.tensor(value, dtype=torch.result_type(tensors[0], value))
        if type(value) in (bool, int, float, complex) and str(argument.type) == "Tensor"
        else value
        for argument, value in zip(overload._schema.arguments, args, strict=False)
    )


def _leaves(label: str, value: Any) -> Answers:
    if isinstance(value, (list, tuple)):
        return [(f"{label}[{at}]", each) for at, each in enumerate(value)]
    return [(label, value)]


def _identity(tensor: torch.Tensor) -> tuple[Any, ...]:
    if tensor.layout != torch.strided or tensor.numel() == 0:
        return (id(tensor),)
    return (
        tensor.device,
        tensor.data_ptr(),
        tensor.dtype,
        tuple(tensor.shape),
        tuple(tensor.stride()),
        tensor.is_conj(),
        tensor.is_neg(),
    )


def _on_cpu(tensor: torch.Tensor) -> torch.Tensor:
    # Lazy conjugation is not resolved, because an operator may depend on it.
    return tensor.detach().cpu()
