"""Frozen weights: cached data are right, are used, and are dropped when weights change."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest
import torch
from torch import Tensor, nn

from diopi_proto.constants import Constants, ConstantsStatistics
from dl_core.torch_backend import constants


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.convolution = nn.Conv2d(16, 32, 3, padding=1)
        self.linear = nn.Linear(32, 24)

    def forward(self, x: Tensor) -> Tensor:
        return self.linear(self.convolution(x).relu().flatten(2).transpose(1, 2))


@pytest.fixture
def vendor() -> Constants:
    found = constants.extension(0)
    assert found is not None
    return found[0]


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    def ranges() -> ConstantsStatistics | None:
        torch._dynamo.reset()
        gc.collect()
        found = constants.extension(0)
        return None if found is None else found[0].statistics()

    before = ranges()
    yield
    assert ranges() == before


def model() -> nn.Module:
    return Model().to("dl").eval()


def frozen(net: nn.Module) -> nn.Module:
    compiled: nn.Module = torch.compile(net, backend="dl", options={"frozen": True})
    with torch.no_grad():
        for _ in range(3):  # eagerly, then by the program
            compiled(images())
    return compiled


def images() -> Tensor:
    torch.manual_seed(3)
    return torch.randn(2, 16, 10, 10).to("dl")


def check(compiled: nn.Module, net: nn.Module) -> None:
    with torch.no_grad():
        torch.testing.assert_close(compiled(images()), net(images()), rtol=1e-4, atol=1e-4)


def test_what_is_kept_is_right(vendor: Constants) -> None:
    net = model()
    before = vendor.statistics()
    compiled = frozen(net)
    check(compiled, net)
    now = vendor.statistics()
    assert now.ranges == before.ranges + 2, "the two weights, without the biases"
    assert now.kept == before.kept + 2, "is there no oneDNN?"


def test_what_is_kept_is_used_and_only_by_the_compiled_model() -> None:
    net = model()
    compiled = frozen(net)
    with torch.no_grad():
        first = compiled(images())
        net.linear.weight.data.zero_()  # torch does not count this write
        assert torch.equal(compiled(images()), first)
        assert not torch.equal(net(images()), first)


@pytest.mark.parametrize("part", ["linear", "convolution"])
def test_what_is_written_to_is_noticed(part: str) -> None:
    net = model()
    compiled = frozen(net)
    with torch.no_grad():
        getattr(net, part).weight.mul_(-2)
    check(compiled, net)


def test_another_weight_in_its_place_is_noticed(vendor: Constants) -> None:
    net = model()
    compiled = frozen(net)
    before = vendor.statistics()
    net.linear.weight.data = torch.randn(24, 32).to("dl")
    check(compiled, net)
    net.load_state_dict(Model().state_dict())
    check(compiled, net)
    assert vendor.statistics().ranges == before.ranges


def test_training_in_between_is_noticed() -> None:
    net = model()
    compiled = frozen(net)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.5)
    for _ in range(2):
        compiled(images()).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
        check(compiled, net)


def test_weights_of_inference_mode_are_not_frozen(vendor: Constants) -> None:
    """Torch counts no writes to them."""
    before = vendor.statistics()
    with torch.inference_mode():
        net = model()
        compiled = torch.compile(net, backend="dl", options={"frozen": True})
        for _ in range(3):
            compiled(images())
        net.load_state_dict({name: 2 * x for name, x in net.state_dict().items()})
        torch.testing.assert_close(compiled(images()), net(images()), rtol=1e-4, atol=1e-4)
    assert vendor.statistics() == before


def test_two_programs_of_one_weight_both_notice_writes(vendor: Constants) -> None:
    """No matter which one runs first after a write."""
    net = model()
    compiled = torch.compile(net, backend="dl", dynamic=False, options={"frozen": True})
    batches = [torch.randn(n, 16, 10, 10).to("dl") for n in (2, 3)]
    with torch.no_grad():
        for x in batches * 3:
            compiled(x)
        assert vendor.statistics().kept > 0, "is there no oneDNN?"
        for order in (batches, batches[::-1]):
            for parameter in net.parameters():
                parameter.mul_(-2)
            for x in order * 2:
                torch.testing.assert_close(compiled(x), net(x), rtol=1e-4, atol=1e-3)


def test_a_program_that_is_new_after_a_write_sees_it() -> None:
    net = model()
    frozen(net)
    with torch.no_grad():
        net.linear.weight.mul_(-2)
    other = torch.compile(lambda x: net(x) + 1, backend="dl", options={"frozen": True})
    with torch.no_grad():
        for _ in range(3):
            torch.testing.assert_close(other(images()), net(images()) + 1, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "Adagrad"])
def test_steps_of_fused_optimizers_are_noticed(name: str) -> None:
    """Torch counts none of their writes."""
    net = model()
    compiled = frozen(net)
    optimizer = getattr(torch.optim, name)(net.parameters(), lr=0.1, fused=True)
    for _ in range(2):
        net(images()).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
        check(compiled, net)


def test_other_memory_in_the_same_place_is_noticed() -> None:
    """``weight.data = ...`` does not change the version, and the old memory may be reused."""
    net = model()
    compiled = frozen(net)
    with torch.no_grad():
        for step in range(6):
            vector = torch.randn(sum(p.numel() for p in net.parameters())).to("dl")
            nn.utils.vector_to_parameters(vector, net.parameters())
            del vector
            if step % 2 == 0:
                check(compiled, net)


def test_a_model_reads_its_own_weights_where_another_had_its() -> None:
    first = model()
    compiled = frozen(first)
    place = first.linear.weight.data_ptr()
    first.cpu()
    others = [model() for _ in range(4)]
    for other in others:
        check(frozen(other), other)
    assert place not in [other.linear.weight.data_ptr() for other in others]
    first.to("dl")
    check(compiled, first)


def test_what_is_kept_goes_with_the_model(vendor: Constants) -> None:
    before = vendor.statistics()
    net = model()
    compiled = frozen(net)
    assert vendor.statistics().ranges > before.ranges
    del net, compiled
    gc.collect()
    assert vendor.statistics() == before


def test_two_compilations_share_weights(vendor: Constants) -> None:
    net = model()
    first, second = frozen(net), frozen(nn.Sequential(net))
    ranges = vendor.statistics().ranges
    check(first, net)
    check(second, net)
    assert vendor.statistics().ranges == ranges


def test_without_the_extension_it_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "extension", lambda index: None)
    net = model()
    compiled = frozen(net)
    with torch.no_grad():
        net.linear.weight.data.zero_()
    check(compiled, net)
    with torch.no_grad():
        assert torch.equal(compiled(images()), net(images()))


def test_what_is_no_option_is_refused() -> None:
    with pytest.raises(Exception, match="the option frozen must be True or False, not 'yes'"):
        torch.compile(model(), backend="dl", options={"frozen": "yes"})(images())
