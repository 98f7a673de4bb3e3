"""Recording of a call on the CPU, with the contract calls that it consists of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map

from diopi_proto.schema import load
from dl_conformance.captured import Captured, CaseFileError, case_of
from dl_conformance.execution import judge
from dl_conformance.fault import Fault
from dl_optools.conformance.errors import NotServedError
from dl_optools.conformance.handwritten import ContractCall
from dl_optools.conformance.lookup import find_contract_call
from dl_optools.conformance.tensors import to_argument, to_output, to_stored
from dl_optools.names import overload_name

_MAKING = ("aten.empty", "aten.new_empty", "aten.detach", "aten.lift", "aten.alias", "aten._local")
"""Overloads that allocate or alias memory and compute nothing."""


@dataclass(frozen=True)
class Found:
    """A call that is a case.

    :ivar overload: overload of ATen.
    :ivar results: by output of the contract, the result of torch on the CPU.
    """

    overload: str
    call: Captured
    results: dict[str, torch.Tensor]
    note: str = ""


@dataclass
class Recording(TorchDispatchMode):
    """Mode that converts every called overload to a contract call where possible.

    :ivar source: description of where the calls come from.
    :ivar found: calls that are cases.
    :ivar left: number of calls that did not become cases, by overload and reason.
    """

    source: str
    found: list[Found] = field(default_factory=list)
    left: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        name, kwargs = overload_name(func), kwargs or {}
        if func.is_view or name.startswith(_MAKING):
            return func(*args, **kwargs)
        try:
            # Before the call, which may write to its arguments.
            serving = find_contract_call(func, args, kwargs)
            arguments = {n: to_argument(x) for n, x in serving.arguments.items()}
        except NotServedError as error:
            self.left[f"{name}: {error}"] += 1
            return func(*args, **kwargs)
        result = func(*args, **kwargs)
        try:
            exactly = None if func._schema.is_mutable else partial(_in_float64, func, args, kwargs)
            self._keep(name, serving, arguments, result, exactly)
        except (NotServedError, CaseFileError) as error:
            self.left[f"{name} as {serving.operator}: {error}"] += 1
        return result

    def _keep(
        self,
        name: str,
        serving: ContractCall,
        arguments: dict[str, Any],
        result: Any,
        exactly: Callable[[], Any] | None,
    ) -> None:
        """Record the call if the reference of its operator agrees with torch.

        :param exactly: computes the result again in float64: if torch's own kernels are too
            inaccurate, it confirms that the operator is the right one. None: not possible.
        :raises NotServedError: the reference disagrees.
        :raises CaseFileError: the call is not a call of the operator.
        """
        results = _results(serving, result)
        outputs = {n: None if x is None else to_output(x) for n, x in results.items()}
        call = Captured(serving.operator, arguments, outputs, f"{name}, {self.source}")
        given = {n: x for n, x in results.items() if x is not None}
        changed = [p.name for p in load()[serving.operator].params if p.direction == "inout"]
        for at, parameter in enumerate(changed):
            tensor = serving.arguments[parameter]
            # Out-of-place forms change a copy and return it.
            copied = exactly is not None and not serving.outputs and at == 0
            if isinstance(tensor, torch.Tensor):
                given[parameter] = result if copied else tensor
        faults, note = _faults(call, given), serving.note
        if faults and exactly is not None and not changed:
            wide = _results(serving, exactly())
            rounded = {n: x.to(given[n].dtype) for n, x in wide.items() if x is not None}
            if not _faults(call, rounded):
                note = f"{note}; torch's own result on the CPU is outside of the bound".lstrip("; ")
                faults = []
        if faults:
            raise NotServedError(f"the reference disagrees with torch on the CPU: {faults[0]}")
        self.found.append(Found(name, call, given, note))


def _in_float64(func: Any, args: Any, kwargs: Any) -> Any:
    """Call with floating-point tensors as float64 and complex ones as complex128."""

    def wide(value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        if value.is_complex():
            return value.to(torch.complex128)
        return value.double() if value.is_floating_point() else value

    args, kwargs = tree_map(wide, (args, kwargs))
    return func(*args, **kwargs)


def _results(serving: ContractCall, result: Any) -> dict[str, torch.Tensor | None]:
    """Return the results by output, without empty results that may be left out."""
    parts: Sequence[Any] = result if isinstance(result, (tuple, list)) else (result,)
    found: dict[str, torch.Tensor | None] = {}
    for name, place in serving.outputs.items():
        parameter = load()[serving.operator].parameter(name)
        one = None if place is None else parts[place]
        if one is not None and one.numel() == 0 and parameter.nullable:
            one = None
        found[name] = one if one is None else one.squeeze(serving.removed)
    return found


def _faults(call: Captured, results: dict[str, torch.Tensor]) -> list[Fault]:
    """Return the differences between torch's results and the reference.

    :raises CaseFileError: the call is not a call of the operator.
    """
    case = case_of(call)
    try:
        return judge(case, {name: to_stored(tensor) for name, tensor in results.items()})[0]
    except Exception as error:  # noqa: BLE001 - references raise errors of their own
        raise NotServedError(
            f"its arguments do not fit the operator: {type(error).__name__}: {error}"
        ) from None
