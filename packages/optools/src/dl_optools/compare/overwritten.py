"""Arguments that a call has changed though its schema does not say so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from dl_core.torch_backend.judging.comparison import same_values, to_host
from dl_core.torch_backend.judging.schema import Signature
from dl_optools.tensors import tensors_of

Arguments = tuple[tuple[Any, ...], Mapping[str, Any]]


def overwritten(facts: Signature, given: Arguments, before: Arguments) -> tuple[str, ...]:
    """Return the names of arguments that hold other values than before, and may not.

    Left out is what shares memory with an argument that the operator writes to.

    :param given: the arguments after the call.
    :param before: copies of them from before the call.
    """
    now, then = facts.bind(*given), facts.bind(*before)
    own = {_memory(x) for name in facts.written for x in tensors_of(now.get(name))}
    found = []
    for name, value in now.items():
        if name in facts.written:
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
