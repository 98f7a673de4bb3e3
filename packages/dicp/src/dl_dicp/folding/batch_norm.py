"""Folding of batch norm into the weight and bias of the preceding convolution.

In inference, batch norm scales and shifts each channel by constants that depend only on buffers and
parameters: ``(w * x - mean) * scale + shift`` is ``(w * scale) * x + (shift - mean * scale)``.
"""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch.fx import Graph, GraphModule, Node
from torch.fx.node import map_arg

from dl_dicp.folding.fixed import FixedValues

aten = torch.ops.aten

CONVOLUTIONS = (
    aten.convolution.default,
    # The operators of exported programs.
    aten.conv1d.default,
    aten.conv2d.default,
    aten.conv3d.default,
)

NORMS = (
    aten._native_batch_norm_legit_no_training.default,
    aten.native_batch_norm.default,
    aten.batch_norm.default,
)


OF_NORM = "dl_of_norm"
"""Metadata key of weights and biases into which a batch norm was folded."""


def fold_batch_norms(module: GraphModule, fixed: FixedValues) -> int:
    """Fold batch norms in place; return their number."""
    done = 0
    for node in list(module.graph.nodes):
        if (result := _result_of(node)) is not None and _fits(node, fixed):
            _fold(module.graph, node, result)
            done += 1
    if done:
        module.graph.eliminate_dead_code()
        module.recompile()
    return done


def _named(node: Node) -> dict[str, Any]:
    """Return the arguments of an operator by name."""
    parameters = node.target._schema.arguments  # type: ignore[union-attr]
    given = {p.name: p.default_value for p in parameters}
    given |= dict(zip(given, node.args, strict=False))
    return given | node.kwargs


def _result_of(node: Node) -> Node | None:
    """Return the result of a batch norm in inference, if no other result is used."""
    if node.target not in NORMS or _named(node).get("training"):
        return None
    if node.target is aten.batch_norm.default:
        return node
    users = list(node.users)
    used = [each for each in users if each.users]
    picks = all(each.target is operator.getitem for each in users)
    if not picks or len(used) != 1 or used[0].args[1] != 0:
        return None
    return used[0]


def _fits(norm: Node, fixed: FixedValues) -> bool:
    given = _named(norm)
    convolution = given["input"]
    if convolution.target not in CONVOLUTIONS or len(convolution.users) != 1:
        return False
    told = _named(convolution)
    wanted = (given["weight"], given["bias"], given["running_mean"], given["running_var"])
    needed = (told["weight"], given["running_mean"], given["running_var"])
    return (
        not told.get("transposed")
        and all(each is None or each in fixed for each in (*wanted, told["bias"]))
        and None not in needed
        and convolution.meta["val"].dtype.is_floating_point
    )


def _fold(graph: Graph, norm: Node, result: Node) -> None:
    given = _named(norm)
    convolution: Node = given["input"]
    told = _named(convolution)
    dtype = convolution.meta["val"].dtype
    # Half precision is computed in float32.
    wide = torch.promote_types(given["running_var"].meta["val"].dtype, torch.float32)

    def call(target: Any, *args: Any, **kwargs: Any) -> Node:
        node = graph.call_function(target, args, kwargs)
        values, named = map_arg((args, kwargs), lambda each: each.meta["val"])
        with norm_value.fake_mode:
            node.meta["val"] = target(*values, **named)
        return node

    def widened(node: Node) -> Node:
        same = node.meta["val"].dtype == wide
        return node if same else call(aten._to_copy.default, node, dtype=wide)

    def narrowed(node: Node) -> Node:
        return node if dtype == wide else call(aten._to_copy.default, node, dtype=dtype)

    norm_value = result.meta["val"]
    # An operand of the norm, such as a cast of its weight, may be computed after the convolution.
    with graph.inserting_before(norm):
        deviation = call(aten.add.Scalar, widened(given["running_var"]), given["eps"])
        scale = call(aten.rsqrt.default, deviation)
        if given["weight"] is not None:
            scale = call(aten.mul.Tensor, scale, widened(given["weight"]))
        mean = widened(given["running_mean"])
        if told["bias"] is not None:
            mean = call(aten.sub.Tensor, mean, widened(told["bias"]))
        shift = call(aten.neg.default, call(aten.mul.Tensor, mean, scale))
        if given["bias"] is not None:
            shift = call(aten.add.Tensor, shift, widened(given["bias"]))
        weight = widened(_before_cast(told["weight"]))
        rows = [-1] + [1] * (weight.meta["val"].dim() - 1)
        weight = call(aten.mul.Tensor, weight, call(aten.view.default, scale, rows))
        folded = {**told, "weight": narrowed(weight), "bias": narrowed(shift)}
        for node in (folded["weight"], folded["bias"]):
            node.meta[OF_NORM] = True
        made = graph.create_node("call_function", convolution.target, tuple(folded.values()))
        # The shape is known; propagating it again could add guards on sizes.
        made.meta = dict(convolution.meta)
    if norm_value.dtype != dtype:
        with graph.inserting_before(norm):
            made = call(aten._to_copy.default, made, dtype=norm_value.dtype)
    result.replace_all_uses_with(made)


def _before_cast(weight: Node) -> Node:
    """Return a weight before it was rounded to half precision."""
    if weight.target is aten._to_copy.default and set(weight.kwargs) == {"dtype"}:
        source: Node = weight.args[0]  # type: ignore[assignment]
        return source
    return weight
