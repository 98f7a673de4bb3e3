"""FlexAttention on dl, eager and compiled, against a direct computation in float64."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn.attention.flex_attention import (
    AuxRequest,
    and_masks,
    create_block_mask,
    flex_attention,
    or_masks,
)

from dl_dicp import statistics
from dl_dicp.compiled import all_graphs

pytestmark = [
    # Deprecation warnings of torch's own modules that Inductor imports.
    pytest.mark.filterwarnings("ignore:`torch.jit.script_method`:DeprecationWarning"),
    # The eager form computes whole score matrices, and torch says so.
    pytest.mark.filterwarnings("ignore:flex_attention called without torch.compile:UserWarning"),
]

BATCH, HEADS, LENGTH, WIDTH = 2, 4, 80, 16
BLOCK = 32

ScoreMod = Callable[..., Tensor]
MaskMod = Callable[..., Tensor]


@dataclass
class Case:
    """A modification of attention scores.

    :ivar score: score modification; None for the identity.
    :ivar mask: mask; None if all pairs are visible.
    :ivar heads: number of key and value heads.
    :ivar captured: tensors that the functions use; those that require gradients get one.
    """

    score: ScoreMod | None = None
    mask: MaskMod | None = None
    heads: int = HEADS
    captured: tuple[Tensor, ...] = ()


def causal(b: Any, h: Any, i: Any, j: Any) -> Any:
    return i >= j


def window(b: Any, h: Any, i: Any, j: Any) -> Any:
    return (i - j).abs() <= 9


def soft_cap(score: Any, b: Any, h: Any, i: Any, j: Any) -> Any:
    return 2.0 * torch.tanh(score / 2.0)


def documents(to: Callable[[Tensor], Tensor]) -> Case:
    """Attention within documents, whose numbers are a captured tensor."""
    numbers = to(torch.arange(LENGTH).div(23, rounding_mode="floor").repeat(BATCH, 1))
    return Case(mask=and_masks(causal, lambda b, h, i, j: numbers[b, i] == numbers[b, j]))


def alibi(to: Callable[[Tensor], Tensor], heads: int = HEADS) -> Case:
    """ALiBi (Press et al. 2022): a penalty that is linear in the distance."""
    slopes = to(2.0 ** -torch.arange(1.0, HEADS + 1))
    return Case(lambda score, b, h, i, j: score + slopes[h] * (j - i), causal, heads)


def padding(to: Callable[[Tensor], Tensor]) -> Case:
    """Keys beyond the length of their sequence are invisible."""
    lengths = to(torch.tensor([LENGTH, 37]))
    return Case(mask=lambda b, h, i, j: j < lengths[b])


def relative(to: Callable[[Tensor], Tensor]) -> Case:
    """A learned bias by head and distance."""
    weight = torch.randn(HEADS, 2 * LENGTH, generator=torch.Generator().manual_seed(5))
    bias = to(weight).requires_grad_()
    return Case(lambda score, b, h, i, j: score + bias[h, i - j + LENGTH], captured=(bias,))


def unseen(to: Callable[[Tensor], Tensor]) -> Case:
    """Some queries see no key; their results are zero."""
    return Case(mask=lambda b, h, i, j: (i >= 40) & (j <= i))


CASES: dict[str, Callable[[Callable[[Tensor], Tensor]], Case]] = {
    "identity": lambda to: Case(),
    "causal": lambda to: Case(mask=causal),
    "sliding window": lambda to: Case(mask=and_masks(causal, window)),
    "documents": documents,
    "alibi": alibi,
    "soft cap": lambda to: Case(soft_cap),
    "prefix": lambda to: Case(mask=or_masks(causal, lambda b, h, i, j: j < 21)),
    "relative bias": relative,
    "padding": padding,
    "dilated": lambda to: Case(mask=lambda b, h, i, j: (i - j) % 3 == 0),
    "scale of heads": lambda to: Case(lambda score, b, h, i, j: score * (1.0 + h)),
    "grouped heads": lambda to: alibi(to, heads=2),
    "unseen": unseen,
}
WAYS: dict[str, Callable[[], Callable[..., Any]]] = {
    "eager": lambda: flex_attention,
    "dl": lambda: torch.compile(flex_attention, backend="dl"),
    "default": lambda: torch.compile(flex_attention, fullgraph=True),
}


def inputs(heads: int) -> list[Tensor]:
    """Return queries, keys, values and the gradient of the result, in float64 on the CPU."""
    source = torch.Generator().manual_seed(1)
    shapes = [(HEADS, LENGTH), (heads, LENGTH), (heads, LENGTH), (HEADS, LENGTH)]
    return [
        torch.randn(BATCH, *shape, WIDTH, generator=source, dtype=torch.float64) for shape in shapes
    ]


def direct(case: Case, query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, ...]:
    """Return the result, the log-sum-exp and the maximum of the scores."""
    groups = HEADS // case.heads
    key, value = (x.repeat_interleave(groups, 1) for x in (key, value))
    score = query @ key.transpose(-2, -1) / math.sqrt(WIDTH)
    sizes = score.shape
    places = [
        torch.arange(n).view([-1 if d == k else 1 for k in range(4)]) for d, n in enumerate(sizes)
    ]
    if case.score is not None:
        score = case.score(score, *places)
    if case.mask is not None:
        score = score.masked_fill(~case.mask(*places).expand(sizes), -math.inf)
    weights = torch.softmax(score, -1).nan_to_num(0.0)
    return weights @ value, score.logsumexp(-1), score.amax(-1)


def run_direct(name: str) -> list[Tensor]:
    """Return the result and all gradients in float64."""
    case = CASES[name](lambda x: x.double() if x.is_floating_point() else x)
    *given, grad = inputs(case.heads)
    for each in given:
        each.requires_grad_()
    result = direct(case, *given)[0]
    return [result, *torch.autograd.grad(result, [*given, *case.captured], grad)]


def on_dl(name: str) -> tuple[Case, list[Tensor], Tensor, Any]:
    """Return a case on dl: its functions, inputs, the gradient and its block mask."""
    case = CASES[name](lambda x: x.to("dl"))
    *given, grad = (x.float().to("dl") for x in inputs(case.heads))
    mask = None
    if case.mask is not None:
        mask = create_block_mask(case.mask, BATCH, HEADS, LENGTH, LENGTH, "dl", BLOCK)
    return case, given, grad, mask


def options(case: Case, mask: Any) -> dict[str, Any]:
    return {"score_mod": case.score, "block_mask": mask, "enable_gqa": case.heads != HEADS}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", CASES)
def test_results_and_gradients_are_those_of_float64(name: str, way: str) -> None:
    wanted = run_direct(name)
    case, given, grad, mask = on_dl(name)
    attention = WAYS[way]()
    for _ in range(2):  # the second call runs contract graphs
        leaves = [x.detach().requires_grad_() for x in given]
        result = attention(*leaves, **options(case, mask))
        found = [result, *torch.autograd.grad(result, [*leaves, *case.captured], grad)]
        for one, other in zip(found, wanted, strict=True):
            torch.testing.assert_close(one.cpu().double(), other, rtol=1e-4, atol=2e-5)
    assert not statistics.host_calls
    assert not statistics.eager
    assert bool(statistics.graphs) == (way != "eager")


def operators_of(name: str) -> list[str]:
    """Return the contract operators of a compiled call and its gradient."""
    all_graphs.clear()
    torch._dynamo.reset()
    case, given, grad, mask = on_dl(name)
    attention = torch.compile(flex_attention)
    for _ in range(2):
        leaves = [x.detach().requires_grad_() for x in given]
        torch.autograd.grad(attention(*leaves, **options(case, mask)), leaves, grad)
    programs = [v.program for g in all_graphs for v in g.variants if v.program is not None]
    return [call.operator for x in programs for region in x.regions for call in region.calls]


@pytest.mark.parametrize("name", ["identity", "causal", "documents", "unseen", "alibi"])
def test_a_mask_or_a_bias_is_one_operator_in_each_direction(name: str) -> None:
    made = operators_of(name)
    assert made.count("dlopAttention") == made.count("dlopAttentionBackward") == 1
    assert "diopiBmm" not in made, "all scores are computed"


def test_modified_scores_are_computed_apart() -> None:
    made = operators_of("soft cap")
    assert "diopiBmm" in made
    assert "dlopAttention" not in made
    assert "dlopAttentionBackward" not in made


@pytest.mark.parametrize("way", WAYS)
def test_statistics_of_the_scores_are_returned(way: str) -> None:
    case, given, _, mask = on_dl("alibi")
    attention = WAYS[way]()
    reference = CASES["alibi"](lambda x: x.double())
    wanted = direct(reference, *inputs(HEADS)[:3])
    with torch.no_grad():
        out, auxiliary = attention(
            *given, **options(case, mask), return_aux=AuxRequest(lse=True, max_scores=True)
        )
    for one, other in zip((out, auxiliary.lse, auxiliary.max_scores), wanted, strict=True):
        torch.testing.assert_close(one.cpu().double(), other, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("way", WAYS)
def test_autocast_computes_in_half_precision(way: str) -> None:
    case, given, _, mask = on_dl("causal")
    wanted = direct(case, *inputs(HEADS)[:3])[0]
    with torch.autocast("dl"):
        found = WAYS[way]()(*given, **options(case, mask))
    assert found.dtype == torch.bfloat16
    torch.testing.assert_close(found.cpu().double(), wanted, rtol=2e-2, atol=2e-2)


def test_other_lengths_are_compiled_for() -> None:
    compiled = torch.compile(flex_attention)
    for length in (32, 48, 64):
        query, key, value = (torch.randn(1, 2, length, 16, device="dl") for _ in range(3))
        mask = create_block_mask(causal, None, None, length, length, "dl", BLOCK)
        wanted = torch.nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        torch.testing.assert_close(
            compiled(query, key, value, block_mask=mask), wanted, rtol=1e-4, atol=1e-5
        )


def test_block_masks_are_compiled() -> None:
    eager = create_block_mask(causal, 1, 1, 96, 96, "dl", BLOCK)
    compiled = torch.compile(create_block_mask)(causal, 1, 1, 96, 96, "dl", BLOCK)
    assert torch.equal(eager.to_dense().cpu(), compiled.to_dense().cpu())
    assert eager.sparsity() == compiled.sparsity() == pytest.approx(100 / 3)


def test_masks_on_another_device_are_refused() -> None:
    _, given, _, _ = on_dl("identity")
    mask = create_block_mask(causal, None, None, LENGTH, LENGTH, "cpu", BLOCK)
    with pytest.raises(RuntimeError, match="same device"):
        flex_attention(*given, block_mask=mask)
