"""Compiled models of all families agree with eager mode."""

from __future__ import annotations

import copy

import pytest
import torch

from agreement import assert_agree
from dicp_models import MODELS, TRANSFORMERS, Encoder, on_dl, tokens
from dl_dicp import statistics

# Deprecation warnings of torch's own modules that Inductor imports.
pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit.script_method`:DeprecationWarning")


def state_of(model: torch.nn.Module) -> dict[str, torch.Tensor]:
    return {**dict(model.named_parameters()), **dict(model.named_buffers())}


@pytest.mark.parametrize("name", MODELS)
def test_inference_is_as_eager(name: str) -> None:
    model, inputs = on_dl(name)
    model.eval()
    eager = copy.deepcopy(model)
    compiled = torch.compile(model)
    with torch.no_grad():
        for _ in range(3):
            assert_agree(compiled(*inputs), eager(*inputs))
    for one, other in zip(state_of(model).values(), state_of(eager).values(), strict=True):
        assert_agree(one, other)  # patterns round differently, and caches keep the results
    assert statistics.graphs >= 2
    assert not statistics.eager


@pytest.mark.parametrize("name", ["encoder", "decoder", "residual"])
def test_training_steps_are_as_eager(name: str) -> None:
    model, inputs = on_dl(name)
    eager = copy.deepcopy(model)
    compiled = torch.compile(model)
    optimizers = [torch.optim.SGD(m.parameters(), lr=0.05) for m in (model, eager)]
    for _ in range(4):
        losses = []
        for run, optimizer in zip((compiled, eager), optimizers, strict=True):
            optimizer.zero_grad()
            losses.append(run(*inputs).square().mean())
            losses[-1].backward()
            optimizer.step()
        assert_agree(losses[0], losses[1])
    for one, other in zip(state_of(model).values(), state_of(eager).values(), strict=True):
        assert_agree(one, other)
    assert statistics.graphs >= 6
    assert not statistics.eager


@pytest.mark.parametrize("name", TRANSFORMERS)
def test_transformers_need_no_host_calls(name: str) -> None:
    model, inputs = on_dl(name)
    compiled = torch.compile(model.eval())
    with torch.no_grad():
        for _ in range(2):
            compiled(*inputs)
    assert not statistics.host_calls
    assert statistics.graphs == 1  # the first run is recorded


def test_batch_norm_in_evaluation_has_gradients() -> None:
    model, inputs = on_dl("residual")
    model.eval()
    eager = copy.deepcopy(model)
    compiled = torch.compile(model)
    for _ in range(2):
        for run in (compiled, eager):
            # The second call must not change the saved tensors of the first one.
            (run(*inputs).sum() + run(*inputs).sum()).backward()
    for one, other in zip(model.parameters(), eager.parameters(), strict=True):
        assert_agree(one.grad, other.grad)
    assert not statistics.eager


def test_a_compiled_optimizer_counts_each_step_once() -> None:
    model, _ = on_dl("residual")
    eager = copy.deepcopy(model)
    own, other = (torch.optim.AdamW(m.parameters(), lr=0.01) for m in (model, eager))
    step = torch.compile(own.step)
    # Steps traced by Dynamo round differently from eager ones.
    other_step = torch.compile(other.step, backend="aot_eager")
    for _ in range(3):
        for parameter, twin in zip(model.parameters(), eager.parameters(), strict=True):
            parameter.grad = torch.randn_like(parameter)
            twin.grad = parameter.grad.clone()
        step()
        other_step()
    for one, two in zip(model.parameters(), eager.parameters(), strict=True):
        assert torch.equal(one.cpu(), two.cpu())
        assert own.state[one]["step"] == 3
    assert not statistics.eager
    assert statistics.graphs


def test_dropout_draws_what_eager_draws() -> None:
    torch.manual_seed(0)
    model = Encoder(dropout=0.5).to("dl")
    words = tokens().to("dl")
    compiled = torch.compile(model)
    drawn = []
    for run in (model, compiled, compiled):
        torch.manual_seed(7)
        drawn.append([run(words).detach().cpu() for _ in range(3)])
    assert not torch.equal(drawn[0][0], drawn[0][1])
    for eager, first, again in zip(*drawn, strict=True):
        assert torch.equal(first, again)
        assert torch.equal(first, eager)


def test_the_cache_of_a_decoding_loop_is_as_in_eager() -> None:
    model, _ = on_dl("llama")
    model.eval()
    eager = copy.deepcopy(model)
    compiled = torch.compile(model)
    said: list[list[int]] = [[], []]
    with torch.no_grad():
        for run, words in zip((compiled, eager), said, strict=True):
            word = torch.tensor([[1]], device="dl")
            for place in range(8):
                word = run(word, torch.tensor([place], device="dl"))[:, -1:].argmax(-1)
                words.append(int(word))
    assert said[0] == said[1]
    assert_agree(model.keys, eager.keys)
    assert not statistics.eager
    assert not statistics.host_calls
