"""Overloads that dl-core implements in its own C++ with a single contract operator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from dl_optools.conformance.errors import NotServedError

Bound = Mapping[str, Any]


@dataclass(frozen=True)
class ContractCall:
    """A call of a contract operator.

    :ivar arguments: by parameter: tensors, lists of tensors, and plain torch values.
    :ivar outputs: by parameter the index of the result; None: left out.
    :ivar removed: dimensions of size 1 that the results have and the contract's do not.
    :ivar note: remark for the user: other operators that may also serve the overload.
    """

    operator: str
    arguments: dict[str, Any]
    outputs: dict[str, int | None]
    removed: tuple[int, ...] = ()
    note: str = ""


def _spatial(bound: Bound) -> int:
    found: int = bound["weight"].dim() - 2
    if found not in (2, 3):
        raise NotServedError(
            f"a convolution over {found} dimensions is composed of other operators"
        )
    if bound["input"].dim() != found + 2:
        raise NotServedError("a convolution without a batch is composed of other operators")
    return found


def _all(values: Any, count: int) -> list[int]:
    return list(values) * (count if len(values) == 1 else 1)


def _convolution(bound: Bound) -> ContractCall:
    n = _spatial(bound)
    arguments = {name: bound[name] for name in ("input", "weight", "bias", "groups")}
    for name in ("stride", "padding", "dilation"):
        arguments[name] = _all(bound[name], n)
    if not bound["transposed"]:
        return ContractCall(f"diopiConvolution{n}d", arguments, {"out": 0})
    arguments["output_padding"] = _all(bound["output_padding"], n)
    return ContractCall(f"diopiConvTranspose{n}d", arguments, {"out": 0})


def _convolution_backward(bound: Bound) -> ContractCall:
    n = _spatial(bound)
    arguments = {name: bound[name] for name in ("grad_output", "input", "weight", "groups")}
    for name in ("stride", "padding", "dilation"):
        arguments[name] = _all(bound[name], n)
    mask = bound["output_mask"]
    arguments["bias_sizes"] = list(bound["bias_sizes"]) if mask[2] else None
    names = ("grad_input", "grad_weight", "grad_bias")
    outputs = {name: at if mask[at] else None for at, name in enumerate(names)}
    if not bound["transposed"]:
        return ContractCall(f"diopiConvolution{n}dBackward", arguments, outputs)
    arguments["output_padding"] = _all(bound["output_padding"], n)
    return ContractCall(f"diopiConvTranspose{n}dBackward", arguments, outputs)


def _index(bound: Bound) -> ContractCall:
    arguments = {"input": bound["self"], "indices": list(bound["indices"])}
    return ContractCall("diopiIndex", arguments, {"out": 0})


def _attention(bound: Bound) -> ContractCall:
    if bound["dropout_p"]:
        raise NotServedError("it draws random numbers, which depend on its device's generator")
    query = bound["query"]
    scale = query.shape[-1] ** -0.5 if bound["scale"] is None else bound["scale"]
    arguments = {"q": query, "k": bound["key"], "v": bound["value"], "mask": bound["attn_mask"]}
    arguments |= {"is_causal": bound["is_causal"], "scale": scale}
    return ContractCall("dlopAttention", arguments, {"out": 0, "lse": 1})


def _copy(bound: Bound) -> ContractCall:
    return ContractCall("diopiCopyInp", {"src": bound.get("src", bound["self"])}, {"dest": 0})


HANDWRITTEN: Mapping[str, Callable[[Bound], ContractCall]] = {
    "convolution": _convolution,
    "convolution_backward": _convolution_backward,
    "index.Tensor": _index,
    "_scaled_dot_product_flash_attention_for_cpu": _attention,
    "_to_copy": _copy,
    "clone": _copy,
    "copy_": _copy,
}
