"""Modules and parameters keep their identity, type and attributes when they are moved to dl."""

from __future__ import annotations

import weakref
from collections.abc import Iterator

import pytest
import torch
from torch import nn
from torch.nn.utils import parametrizations, parametrize

LAZY = {
    "LazyLinear": (lambda: nn.LazyLinear(4), (2, 3)),
    "LazyConv2d": (lambda: nn.LazyConv2d(4, 3), (2, 3, 8, 8)),
    "LazyConvTranspose1d": (lambda: nn.LazyConvTranspose1d(4, 3), (2, 3, 8)),
    "LazyBatchNorm2d": (nn.LazyBatchNorm2d, (2, 3, 4, 4)),
    "LazyInstanceNorm1d": (lambda: nn.LazyInstanceNorm1d(affine=True), (2, 3, 4)),
}


@pytest.fixture(autouse=True)
def _no_swapping() -> Iterator[None]:
    """Disable torch's alternative way to preserve parameters, which is opt-in."""
    yield
    assert not torch.__future__.get_swap_module_params_on_conversion()


# Torch warns for each lazy module.
@pytest.mark.filterwarnings("ignore:Lazy modules are a new feature")
@pytest.mark.parametrize("name", LAZY)
def test_a_lazy_module_moves_before_it_knows_its_shape(name: str) -> None:
    build, shape = LAZY[name]
    module = build().to("dl")
    assert module.has_uninitialized_params()
    twin = build()
    x = torch.randn(shape)
    assert module(x.to("dl")).shape == twin(x).shape
    assert type(module) is type(twin)
    assert [p.shape for p in module.parameters()] == [p.shape for p in twin.parameters()]
    assert {p.device.type for p in module.parameters()} == {"dl"}


class Marked(nn.Parameter):
    """A parameter subclass."""


def test_subclasses_attributes_and_flags_survive() -> None:
    module = nn.Linear(2, 2)
    module.weight = weight = Marked(torch.ones(2, 2), requires_grad=False)
    weight.sharding = "rows"
    module.bias.tag = tag = object()
    bias = module.bias
    for device in ("dl", "cpu", "dl"):
        module.to(device)
        assert module.weight is weight and type(weight) is Marked
        assert weight.sharding == "rows" and bias.tag is tag and module.bias is bias
        assert not weight.requires_grad and bias.requires_grad and bias.is_leaf
        assert weight.device.type == bias.device.type == device


def test_a_parameter_that_something_watches_moves_in_place() -> None:
    module = nn.Linear(2, 2)
    watched = weakref.ref(module.weight)
    module.to("dl")
    assert watched() is module.weight and module.weight.device.type == "dl"


def test_a_buffer_is_what_torch_makes_of_it_elsewhere() -> None:
    module, twin = nn.Module(), nn.Module()
    module.kept = nn.Buffer(torch.ones(2), persistent=False)
    twin.kept = nn.Buffer(torch.ones(2), persistent=False)
    module.to("dl")
    twin.to(torch.float64)
    assert type(module.kept) is type(twin.kept) and module.kept.device.type == "dl"
    assert not module.state_dict() and "kept" in dict(module.named_buffers())


class Scaled(torch.Tensor):
    """A subclass that is more than a marker: its operators return its type."""


def test_a_parameter_of_a_tensor_subclass_stays_one() -> None:
    module = nn.Module()
    module.weight = nn.Parameter(torch.ones(2).as_subclass(Scaled))
    weight = module.weight
    module.to("dl")
    assert module.weight is weight and isinstance(weight, Scaled) and weight.device.type == "dl"


@pytest.mark.parametrize("kind", [parametrizations.weight_norm, parametrizations.orthogonal])
def test_parametrized_modules_compute_as_before(kind: object) -> None:
    torch.manual_seed(0)
    module = kind(nn.Linear(3, 3))
    x = torch.randn(2, 3)
    want = module(x)
    module.to("dl")
    assert parametrize.is_parametrized(module)
    assert {p.device.type for p in module.parameters()} == {"dl"}
    torch.testing.assert_close(module(x.to("dl")).cpu(), want)


def test_hooks_run_once_each_after_a_move_between_passes() -> None:
    module = nn.Linear(2, 2)
    seen: list[str] = []
    module.weight.register_hook(lambda gradient: seen.append(f"hook {gradient.device.type}"))
    module.weight.register_post_accumulate_grad_hook(
        lambda parameter: seen.append(f"post {parameter.grad.device.type}")
    )
    for device in ("cpu", "dl", "cpu"):
        module.to(device)
        module(torch.ones(1, 2, device=device)).sum().backward()
    assert seen == [
        f"{kind} {device}" for device in ("cpu", "dl", "cpu") for kind in ("hook", "post")
    ]
    assert torch.equal(module.weight.grad, torch.full((2, 2), 3.0))


def test_data_of_a_parameter_changes_sides() -> None:
    parameter = nn.Parameter(torch.arange(4.0))
    parameter.data = parameter.data.to("dl")
    assert parameter.device.type == "dl" and parameter.is_leaf and parameter.requires_grad
    (parameter * 2).sum().backward()
    assert parameter.grad.tolist() == [2, 2, 2, 2]
    parameter.grad = None
    parameter.data = parameter.data.cpu()
    assert parameter.tolist() == [0, 1, 2, 3] and parameter.device.type == "cpu"


def test_shards_are_gathered_and_freed_through_data() -> None:
    """As in sharded data parallel training: the parameter is a shard between uses of the layers."""
    whole = torch.randn(6, 2)
    parameter = nn.Parameter(whole.to("dl"))
    shard = whole[:3].flatten().to("dl")
    parameter.data = shard
    assert parameter.shape == (6,)
    gathered = torch.empty(12, device="dl")
    gathered.copy_(whole.flatten())
    parameter.data = gathered.view(6, 2)
    (parameter.square().sum()).backward()
    torch.testing.assert_close(parameter.grad.cpu(), 2 * whole)
    gathered.untyped_storage().resize_(0)
    parameter.data = shard
    assert torch.equal(parameter.detach().cpu(), whole[:3].flatten())


@pytest.mark.parametrize("other", ["meta", "sparse"])
def test_data_of_another_layout_is_refused(other: str) -> None:
    tensor = torch.ones(2, 2, device="dl")
    value = torch.ones(2, 2, device="meta") if other == "meta" else torch.eye(2).to_sparse()
    with pytest.raises(RuntimeError, match="incompatible tensor type"):
        tensor.data = value


def test_swapping_of_parameters_still_works() -> None:
    module = nn.Linear(2, 2)
    weight = module.weight
    torch.__future__.set_swap_module_params_on_conversion(True)
    try:
        module.to("dl")
    finally:
        torch.__future__.set_swap_module_params_on_conversion(False)
    assert module.weight is weight and weight.device.type == "dl"
