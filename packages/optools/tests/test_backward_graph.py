from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812  (the name that everybody uses)
from torch.utils.checkpoint import checkpoint

from dl_optools.backward_graph import Gradients, GradientWatch
from watching import Watching, leaf

Function = Callable[..., Any]


def reference(
    function: Function, inputs: Sequence[torch.Tensor], cotangents: Sequence[torch.Tensor]
) -> tuple[torch.Tensor | None, ...]:
    """Compute the gradients of a single call with torch alone."""
    copies = [x.detach().clone().requires_grad_(x.requires_grad) for x in inputs]
    results = function(*copies)
    results = results if isinstance(results, (tuple, list)) else [results]
    wanted = [x for x in copies if x.requires_grad]
    found = iter(torch.autograd.grad(results, wanted, cotangents, allow_unused=True))
    return tuple(next(found) if x.requires_grad else None for x in copies)


def same(one: torch.Tensor | None, other: torch.Tensor | None) -> bool:
    if one is None or other is None:
        return one is other
    return one.shape == other.shape and torch.equal(one, other)


CASES: dict[str, tuple[Function, list[torch.Tensor]]] = {
    "linear": (F.linear, [leaf(2, 3, 4), leaf(5, 4), leaf(5)]),
    "linear without bias": (F.linear, [leaf(2, 3, 4), leaf(5, 4)]),
    "split": (lambda x: torch.split(x, [1, 3]), [leaf(4, 3)]),
    "std_mean": (lambda x: torch.std_mean(x, dim=1), [leaf(4, 3)]),
    "cross_entropy": (
        lambda x, t: F.cross_entropy(x, t, label_smoothing=0.1),
        [leaf(6, 4), torch.tensor([0, 3, 2, 1, 1, 0])],
    ),
    "layer_norm": (lambda x, w, b: F.layer_norm(x, (4,), w, b), [leaf(3, 4), leaf(4), leaf(4)]),
    "conv2d": (F.conv2d, [leaf(2, 3, 5, 5), leaf(4, 3, 3, 3), leaf(4)]),
    "attention": (
        F.scaled_dot_product_attention,
        [leaf(1, 2, 4, 8), leaf(1, 2, 4, 8, seed=1), leaf(1, 2, 4, 8, seed=2)],
    ),
    "cat": (lambda *x: torch.cat(x), [leaf(2, 3), leaf(1, 3)]),
    "max": (lambda x: torch.max(x, dim=1)[0], [leaf(4, 3)]),
    "expand": (lambda x: x.expand(3, 4), [leaf(4)]),
}


@pytest.mark.parametrize("case", CASES)
def test_gradients_of_all_inputs_and_outputs_are_those_of_the_call_on_its_own(case: str) -> None:
    function, inputs = CASES[case]
    results = function(*inputs)
    count = len(results) if isinstance(results, (tuple, list)) else 1
    found: list[Gradients] = []
    # Operators before and after the call are excluded.
    before = [x * 1 if x.requires_grad else x for x in inputs]
    watch = GradientWatch(before, found.append)
    results = function(*before)
    results = list(results) if isinstance(results, (tuple, list)) else [results]
    assert watch.attach(results)
    cotangents = [torch.randn_like(x) for x in results]
    torch.autograd.backward([(x * 2) for x in results], [c / 2 for c in cotangents])
    (gradients,) = found
    assert len(gradients.outputs) == count
    assert all(map(same, gradients.outputs, cotangents))
    assert all(map(same, gradients.inputs, reference(function, inputs, cotangents)))
    for x in inputs:
        x.grad = None


def test_parameters_get_their_gradient_if_a_tool_sees_a_module() -> None:
    layer = torch.nn.Linear(4, 5)
    x = leaf(2, 3, 4)
    with Watching() as tool:
        layer(x).square().sum().backward()
    gradients = tool.one("functional.linear")
    assert all(map(same, gradients.inputs, [x.grad, layer.weight.grad, layer.bias.grad]))


def test_a_tensor_given_twice_has_the_sum_of_both_uses() -> None:
    x = leaf(3)
    with Watching() as tool:
        torch.mul(x, x).sum().backward()
    assert all(same(found, 2 * x.detach()) for found in tool.one("torch.mul").inputs)


def test_only_this_calls_part_of_an_input_gradient_counts() -> None:
    x = leaf(3)
    with Watching() as tool:
        y = torch.mul(x, 3)
        (torch.add(x, 1) + y).sum().backward()
    assert same(tool.one("torch.mul").inputs[0], torch.full((3,), 3.0))
    assert same(tool.one("torch.add").inputs[0], torch.ones(3))
    assert x.grad is not None and same(x.grad, torch.full((3,), 4.0))


def test_inputs_that_need_no_gradient_and_integers_have_none() -> None:
    with Watching() as tool:
        F.embedding(torch.tensor([0, 2]), leaf(4, 3)).sum().backward()
    indices, weight = tool.one("embedding").inputs
    assert indices is None and weight is not None and weight.sum() == 6


def test_a_call_without_gradients_is_not_watched() -> None:
    with torch.no_grad():
        watch = GradientWatch([leaf(3)], lambda _: pytest.fail("reported"))
        assert not watch.attach([torch.ones(3)])
    watch = GradientWatch([torch.ones(3)], lambda _: pytest.fail("reported"))
    assert not watch.attach([torch.ones(3) * 2])


# In-place writes and views


def test_in_place_on_a_fresh_tensor() -> None:
    x = leaf(4)
    with Watching() as tool:
        y = x * 2
        y.mul_(torch.tensor([1.0, 2.0, 3.0, 4.0]))
        y.sum().backward()
    assert same(tool.one("mul_").inputs[0], torch.tensor([1.0, 2.0, 3.0, 4.0]))
    assert same(tool.one("mul_").outputs[0], torch.ones(4))


def test_linear_followed_by_relu_in_place() -> None:
    x, weight, bias = leaf(2, 3, 4), leaf(5, 4), leaf(5)
    with Watching() as tool:
        y = F.linear(x, weight, bias)
        sign = (y.detach() > 0).float()
        y.relu_()
        (y * 3).sum().backward()
    linear, relu = tool.one("functional.linear"), tool.one("relu_")
    assert same(relu.outputs[0], torch.full((2, 3, 5), 3.0))
    assert same(relu.inputs[0], 3 * sign)
    assert same(linear.outputs[0], 3 * sign)
    assert all(map(same, linear.inputs, [x.grad, weight.grad, bias.grad]))


def test_in_place_on_a_part() -> None:
    x = leaf(3, 4)
    with Watching() as tool:
        y = x + 0
        y[0].mul_(2)
        (y * 5).sum().backward()
    gradients = tool.one("mul_")
    assert same(gradients.inputs[0], torch.full((4,), 10.0))
    assert same(gradients.outputs[0], torch.full((4,), 5.0))


def test_in_place_on_a_part_of_a_permuted_tensor() -> None:
    x = leaf(2, 3, 4, 4)
    with Watching() as tool:
        y = x.contiguous(memory_format=torch.channels_last) * 1
        y[:, 1].mul_(2)
        weights = torch.arange(y.numel(), dtype=torch.float32).reshape(y.shape)
        (y * weights).sum().backward()
    assert same(tool.one("mul_").inputs[0], 2 * weights[:, 1])


def test_both_operands_of_an_in_place_call_on_a_part() -> None:
    x, factor = leaf(3, 4), leaf(4)
    with Watching() as tool:
        y = x + 0
        row = y[1]
        row.mul_(factor)
        y.sum().backward()
    gradients = tool.one("mul_")
    assert same(gradients.inputs[0], factor.detach())
    assert same(gradients.inputs[1], x.detach()[1])


def test_assignment_to_a_part() -> None:
    x, value = leaf(3, 4), leaf(4)
    with Watching() as tool:
        y = x + 0
        y[1] = value
        (y * 3).sum().backward()
    gradients = tool.one("__setitem__")
    expected = torch.full((3, 4), 3.0)
    assert same(gradients.outputs[0], expected)
    expected[1] = 0
    assert same(gradients.inputs[0], expected)
    assert same(gradients.inputs[1], torch.full((4,), 3.0))


def test_a_part_is_copied_into_another_part() -> None:
    x = leaf(3, 4)
    with Watching() as tool:
        y = x + 0
        y[1] = y[0]
        y.sum().backward()
    whole, value = tool.one("__setitem__").inputs
    assert whole is not None and same(value, torch.ones(4))
    assert whole[1].sum() == 0 and whole[0].sum() == 4


def test_views_pass_their_gradient_on() -> None:
    x = leaf(3, 4)
    with Watching() as tool:
        torch.transpose(x, 0, 1)[1].sum().backward()
    gradients = tool.one("torch.transpose")
    assert x.grad is not None
    assert same(gradients.inputs[0], x.grad) and same(gradients.outputs[0], x.grad.T)


# Paths through the graph


def test_one_of_several_outputs_is_used() -> None:
    x = leaf(4, 3)
    with Watching() as tool:
        deviation, _ = torch.std_mean(x, dim=1)
        deviation.sum().backward()
    gradients = tool.one("std_mean")
    assert same(gradients.outputs[0], torch.ones(4)) and gradients.outputs[1] is None
    assert same(gradients.inputs[0], x.grad)


def test_nodes_after_the_inputs_gradients_are_not_a_backward_of_their_own() -> None:
    x, own = leaf(3), leaf(3, seed=1)
    found: list[Gradients] = []
    watch = GradientWatch([x], found.append)
    # Autograd runs the latest node first.
    outputs = [own * 3, x * 2]
    watch.attach(outputs)
    torch.autograd.backward(outputs, [torch.ones(3), torch.ones(3)])
    assert len(found) == 1 and same(found[0].inputs[0], torch.full((3,), 2.0))


def test_retained_graphs_report_each_time() -> None:
    x = leaf(3)
    with Watching() as tool:
        y = torch.mul(x, 2)
        y.backward(torch.ones(3), retain_graph=True)
        y.backward(torch.full((3,), 5.0))
    first, second = tool.of("torch.mul")
    assert same(first.inputs[0], torch.full((3,), 2.0))
    assert same(second.inputs[0], torch.full((3,), 10.0))


def test_double_backward() -> None:
    x = leaf(3)
    with Watching() as tool:
        y = torch.pow(x, 3).sum()
        (first,) = torch.autograd.grad(y, x, create_graph=True)
        first.sum().backward()
    reports = tool.of("torch.pow")
    assert same(reports[0].inputs[0], first.detach())
    assert x.grad is not None and torch.allclose(x.grad, 6 * x.detach())
    assert not any(g.requires_grad for r in reports for g in r.inputs if g is not None)


def test_grad_for_some_inputs_reports_those() -> None:
    x, weight, bias = leaf(2, 3, 4), leaf(5, 4), leaf(5)
    with Watching() as tool:
        y = F.linear(x, weight, bias).sum()
        (wanted,) = torch.autograd.grad(y, weight)
    gradients = tool.one("functional.linear")
    assert same(gradients.inputs[1], wanted)
    assert gradients.inputs[0] is None


def test_grad_for_an_intermediate_tensor() -> None:
    x = leaf(3)
    with Watching() as tool:
        y = torch.mul(x, 2)
        z = torch.exp(y)
        (wanted,) = torch.autograd.grad(z.sum(), y)
    assert same(tool.one("torch.exp").inputs[0], wanted)
    assert not tool.of("torch.mul")


@pytest.mark.parametrize("reentrant", [False, True])
def test_checkpointed_parts_are_seen_again_and_keep_their_gradients(reentrant: bool) -> None:
    layer = torch.nn.Linear(4, 4)
    x = leaf(2, 3, 4)
    layer(x).tanh().sum().backward()
    expected = [x.grad, layer.weight.grad, layer.bias.grad]
    x.grad = layer.weight.grad = layer.bias.grad = None
    with Watching() as tool:
        checkpoint(lambda t: layer(t).tanh(), x, use_reentrant=reentrant).sum().backward()
    assert all(map(same, [x.grad, layer.weight.grad, layer.bias.grad], expected))
    assert all(map(same, tool.one("functional.linear").inputs, expected))


def test_functions_that_users_wrote() -> None:
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            return x * 2

        @staticmethod
        def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
            return gradient * 2

    x = leaf(3)
    before = Double.apply(x)
    found: list[Gradients] = []
    watch = GradientWatch([before], found.append)
    result = Double.apply(before)
    assert watch.attach([result])
    result.sum().backward()
    assert same(found[0].inputs[0], torch.full((3,), 2.0))


def test_a_gradient_that_a_hook_changes_is_reported_as_changed() -> None:
    x = leaf(3)
    with Watching() as tool:
        y = torch.mul(x, 2)
        y.register_hook(lambda gradient: gradient * 7)
        y.sum().backward()
    assert same(tool.one("torch.mul").outputs[0], torch.full((3,), 7.0))


def test_backward_that_fails_reports_the_next_one_rightly() -> None:
    x = leaf(3)
    fail = True

    def hook(gradient: torch.Tensor) -> None:
        if fail:
            raise ArithmeticError("hook")

    with Watching() as tool:
        before = x * 1
        before.register_hook(hook)
        y = torch.mul(before * 1, before)
        with pytest.raises(ArithmeticError, match="hook"):
            y.sum().backward(retain_graph=True)
        tool.reports.clear()
        fail = False
        y.sum().backward()
    assert same(tool.one("torch.mul").outputs[0], torch.ones(3))


# No side effects


def test_results_are_the_same_to_the_bit() -> None:
    def train() -> list[torch.Tensor]:
        torch.manual_seed(0)
        model = torch.nn.Sequential(
            torch.nn.Linear(8, 16), torch.nn.ReLU(inplace=True), torch.nn.Linear(16, 4)
        )
        optimizer = torch.optim.Adam(model.parameters())
        for _ in range(3):
            optimizer.zero_grad()
            F.cross_entropy(model(torch.randn(6, 8)), torch.arange(6) % 4).backward()
            optimizer.step()
        return [x.detach().clone() for x in model.parameters()]

    expected = train()
    with Watching() as tool:
        found = train()
    assert tool.reports and all(map(torch.equal, found, expected))


def hooks_on(node: Any) -> int:
    """Count the hooks of the nodes behind one, by the effect of removing them."""
    seen, waiting, count = set(), [node], 0
    while waiting:
        node = waiting.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        probe = node.register_hook(lambda *_: None)
        count += len(probe.hooks_dict_ref()) - 1
        probe.remove()
        waiting.extend(target for target, _ in node.next_functions)
    return count


def test_stopping_takes_the_hooks_off_a_graph_that_lives_on() -> None:
    x = leaf(3)
    tool = Watching().start()
    y = torch.mul(torch.exp(x), 2)
    assert hooks_on(y.grad_fn) == 2
    tool.stop()
    assert hooks_on(y.grad_fn) == 0
    y.sum().backward()
    assert not tool.reports


@pytest.mark.parametrize("with_backward", [False, True])
def test_graphs_die_as_without_tools(with_backward: bool) -> None:
    gc.collect()
    gc.disable()
    try:
        x = leaf(3)
        with Watching() as tool:
            hidden = torch.exp(x)
            part = torch.mul(hidden, hidden)[1:]
            part.mul_(2)
            loss = part.sum()
            activation = weakref.ref(hidden.untyped_storage())
            # The node of a base is reached on another path than the tensor.
            refs = [weakref.ref(hidden), weakref.ref(part)]
            del hidden, part
            if with_backward:
                loss.backward()
            del loss
            assert [ref() for ref in refs] == [None, None]
            tool.reports.clear()
        assert activation() is None
    finally:
        gc.enable()


def test_gradients_are_not_kept_until_backward_ends() -> None:
    x = leaf(3)
    gone: list[bool] = []
    refs: list[weakref.ref[Any]] = []

    def report(found: Gradients) -> None:
        refs.extend(weakref.ref(g) for g in found.inputs if g is not None)

    before = torch.exp(torch.exp(x))
    watch = GradientWatch([before], report)
    y = torch.exp(before)
    watch.attach([y])
    before.grad_fn.next_functions[0][0].register_hook(
        lambda *_: gone.append(all(ref() is None for ref in refs))
    )
    y.sum().backward()
    assert refs and gone == [True]
