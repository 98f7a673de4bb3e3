"""Detection of arguments that a call changed although its schema marks them read-only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from diopi_proto.tolerance.torch_operators.comparison import same_values, to_host
from diopi_proto.tolerance.torch_operators.op_classes import base_name
from diopi_proto.tolerance.torch_operators.schema import Overload, signature
from dl_optools.tensors import tensors_of

SCRATCH = frozenset({"dropout_state", "reserve", "reserveSpace", "weight_buf", "workspace"})
"""Arguments that only the operator's own library reads, which a gradient may overwrite."""

Arguments = tuple[tuple[Any, ...], Mapping[str, Any]]


def find_overwritten(
    overload: Overload[Any, Any], given: Arguments, before: Arguments
) -> tuple[str, ...]:
    """Return the names of read-only arguments whose values changed.

    Arguments that share memory with a written argument are left out, and so are arguments that
    share memory with a result that the schema does not declare as a view (``_unsafe_view``).

    :param given: the arguments after the call.
    :param before: copies of the arguments from before the call.
    """
    if base_name(overload).removeprefix("_").startswith("unsafe"):
        return ()
    facts = signature(overload)
    now, then = facts.bind(*given), facts.bind(*before)
    own = {_memory(x) for name in facts.written for x in tensors_of(now.get(name))}
    found = []
    for name, value in now.items():
        if name in facts.written or name in SCRATCH:
            continue
        pairs = zip(tensors_of(value), tensors_of(then.get(name)), strict=False)
        for tensor, copy in pairs:
            if tensor.layout != torch.strided or _memory(tensor) in own:
                continue
            if not same_values(to_host(tensor), copy.detach().resolve_conj().resolve_neg()):
                found.append(name)
                break
    return tuple(found)


def _memory(tensor: torch.Tensor) -> int:
    if tensor.layout != torch.strided:
        return id(tensor)
    return int(tensor.untyped_storage()._cdata)
