"""Random numbers: a seed and an offset, the same stream for every way of drawing."""

from __future__ import annotations

import pytest
import torch
from torch.utils.checkpoint import checkpoint

DRAWS = {
    "rand": lambda: torch.rand(5, device="dl"),
    "randn": lambda: torch.randn(5, device="dl"),
    "randn float64": lambda: torch.randn(5, device="dl", dtype=torch.float64),
    "randn bfloat16": lambda: torch.randn(5, device="dl", dtype=torch.bfloat16),
    "randint": lambda: torch.randint(1000, (5,), device="dl"),
    "randperm": lambda: torch.randperm(50, device="dl"),
    "normal_": lambda: torch.empty(5, device="dl").normal_(2, 3),
    "uniform_": lambda: torch.empty(5, device="dl").uniform_(2, 3),
    "exponential_": lambda: torch.empty(5, device="dl").exponential_(),
    "bernoulli": lambda: torch.full((64,), 0.5, device="dl").bernoulli(),
    "multinomial": lambda: torch.ones(100, device="dl").multinomial(5),
    "dropout": lambda: torch.nn.functional.dropout(torch.ones(64, device="dl")),
    "rrelu": lambda: torch.nn.functional.rrelu(torch.full((5,), -1.0, device="dl"), training=True),
    "dropout2d": lambda: torch.nn.functional.dropout2d(torch.ones(1, 64, 2, 2, device="dl")),
}


@pytest.mark.parametrize("name", DRAWS)
def test_a_seed_repeats_the_numbers_and_a_state_goes_on(name: str) -> None:
    draw = DRAWS[name]
    torch.manual_seed(5)
    first, second = draw(), draw()
    assert not torch.equal(first, second)
    torch.manual_seed(5)
    assert torch.equal(first, draw())
    state = torch.dl.get_rng_state()
    assert torch.equal(second, draw())
    torch.dl.set_rng_state(state)
    assert torch.equal(second, draw())
    torch.manual_seed(6)
    assert not torch.equal(first, draw())


@pytest.mark.parametrize("name", DRAWS)
def test_a_draw_leaves_the_generator_of_the_cpu_alone(name: str) -> None:
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    DRAWS[name]()
    assert torch.equal(torch.rand(3), expected)


def test_a_draw_of_the_cpu_leaves_the_generator_of_dl_alone() -> None:
    torch.manual_seed(5)
    expected = torch.rand(3, device="dl")
    torch.manual_seed(5)
    torch.rand(3)
    assert torch.equal(torch.rand(3, device="dl"), expected)


def test_numbers_in_range_and_spread() -> None:
    torch.manual_seed(0)
    uniform = torch.rand(20000, device="dl").cpu()
    assert bool((uniform >= 0).all()) and bool((uniform < 1).all())
    assert abs(float(uniform.mean()) - 0.5) < 6 * (1 / 12 / 20000) ** 0.5
    normal = torch.randn(20000, device="dl").cpu()
    assert abs(float(normal.mean())) < 6 / 20000**0.5
    assert abs(float(normal.var()) - 1) < 6 * (2 / 20000) ** 0.5
    assert uniform.unique().numel() > 19000 and normal.unique().numel() > 19000


def test_many_numbers_do_not_repeat_within_a_draw_or_the_next() -> None:
    torch.manual_seed(0)
    drawn = torch.cat([torch.rand(4096, device="dl", dtype=torch.float64) for _ in range(4)])
    assert drawn.cpu().unique().numel() == 4 * 4096


def test_a_generator_argument_is_used_and_advanced() -> None:
    generator = torch.Generator("dl").manual_seed(3)
    assert generator.device.type == "dl" and generator.initial_seed() == 3
    before = torch.dl.get_rng_state()
    first = torch.rand(4, device="dl", generator=generator)
    second = torch.rand(4, device="dl", generator=generator)
    assert not torch.equal(first, second)
    assert torch.equal(torch.dl.get_rng_state(), before)
    generator.manual_seed(3)
    assert torch.equal(torch.rand(4, device="dl", generator=generator), first)
    state = generator.get_state()
    assert torch.equal(torch.rand(4, device="dl", generator=generator), second)
    generator.set_state(state)
    assert torch.equal(torch.rand(4, device="dl", generator=generator), second)


def test_a_generator_argument_reaches_the_fallback() -> None:
    def draw() -> torch.Tensor:
        generator = torch.Generator("dl").manual_seed(3)
        return torch.empty(4, device="dl").cauchy_(generator=generator)

    assert torch.equal(draw(), draw())


def test_a_cloned_state_goes_its_own_way() -> None:
    generator = torch.Generator("dl").manual_seed(3)
    twin = generator.clone_state()
    first = torch.rand(4, device="dl", generator=generator)
    assert torch.equal(torch.rand(4, device="dl", generator=twin), first)


def test_the_offset_can_be_read_and_set() -> None:
    generator = torch.Generator("dl").manual_seed(3)
    torch.rand(4, device="dl", generator=generator)
    offset = generator.get_offset()
    assert offset > 0
    second = torch.rand(4, device="dl", generator=generator)
    generator.set_offset(offset)
    assert torch.equal(torch.rand(4, device="dl", generator=generator), second)


def test_fork_rng_restores_the_state() -> None:
    torch.manual_seed(5)
    with torch.random.fork_rng(devices=[0], device_type="dl"):
        torch.manual_seed(99)
        inside = torch.rand(3, device="dl")
    after = torch.rand(3, device="dl")
    torch.manual_seed(5)
    assert torch.equal(torch.rand(3, device="dl"), after)
    assert not torch.equal(inside, after)


@pytest.mark.parametrize("reentrant", [False, True])
def test_checkpoint_drops_the_same_elements_twice(reentrant: bool) -> None:
    x = torch.ones(256, device="dl", requires_grad=True)
    torch.manual_seed(5)
    y = checkpoint(lambda t: torch.nn.functional.dropout(t * 2), x, use_reentrant=reentrant)
    y.sum().backward()
    assert x.grad is not None
    assert torch.equal(x.grad.cpu(), y.detach().cpu())


@pytest.mark.devices(2)
def test_each_device_has_its_own_generator() -> None:
    torch.manual_seed(5)
    first = torch.rand(3, device="dl:0")
    assert torch.equal(torch.rand(3, device="dl:1").cpu(), first.cpu())
