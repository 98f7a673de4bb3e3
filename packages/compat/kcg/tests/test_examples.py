"""The examples: models match their names, and are right with and without kernels."""

from __future__ import annotations

import importlib
import json
import runpy
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

import kcg

pytestmark = pytest.mark.skipif(
    not any(map(shutil.which, ("c++", "g++", "clang++"))), reason="needs a C++ compiler"
)
EXAMPLE = Path(__file__).parents[4] / "examples" / "tune_kcg"
CALLS = {"bert": 8 * 2, "gpt2": 6 * 2 + 1, "llama2": 9 * 2 + 1}
"""Number of products in a run: the products of two layers, and the last one."""
RUNS = 6
gemm = importlib.import_module("kcg.gemm")
Run = Callable[..., int]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    """Return a function that runs the example and returns its exit code."""
    monkeypatch.syspath_prepend(str(EXAMPLE))

    def start(*words: str) -> int:
        kcg.OpProxy.clear()
        monkeypatch.setattr(sys, "argv", ["run.py", *words])
        with pytest.raises(SystemExit) as ended:
            runpy.run_path(str(EXAMPLE / "run.py"), run_name="__main__")
        assert isinstance(ended.value.code, int)
        return ended.value.code

    yield start
    kcg.OpProxy.clear()


@pytest.mark.parametrize("model", CALLS)
def test_a_model_is_right(run: Run, capsys: pytest.CaptureFixture[str], model: str) -> None:
    assert run("--model", model) == 0
    said = capsys.readouterr().out
    assert f"==== call ops : {{'MatmulOp': {RUNS * CALLS[model]}}}" in said
    assert "===== model test correct" in said


@pytest.mark.parametrize("model", CALLS)
def test_a_wrong_kernel_of_any_product_is_noticed(
    run: Run, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, model: str
) -> None:
    right, met, wrong = gemm.Gemm.__call__, [], []

    def compute(self: Any, a: torch.Tensor, b: torch.Tensor, out: Any = None) -> torch.Tensor:
        met.append(self.problem)
        product: torch.Tensor = right(self, a, b, out)
        # As if a thread had written its rows to another thread's position.
        return product.roll(1, dims=-2) if self.problem in wrong else product

    monkeypatch.setattr(gemm.Gemm, "__call__", compute)
    assert run("--model", model) == 0
    for problem in dict.fromkeys(met):
        wrong[:] = [problem]
        assert run("--model", model) == 1, problem
        assert "===== model test error !" in capsys.readouterr().out


@pytest.mark.usefixtures("_all_are_faster")
@pytest.mark.parametrize("model", CALLS)
def test_what_is_tuned_is_used_and_right(
    run: Run,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    model: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("--model", model, "--tune", "1") == 0
    said = capsys.readouterr().out
    products = [line.removeprefix("product ") for line in said.splitlines() if "product" in line]
    assert len(json.loads((tmp_path / f"{model}.json").read_text())["kernels"]) == len(products)
    assert all(f"{product}: faster" in said for product in products)
    assert "'MatmulOp'" in said and "===== model test correct" in said
    assert run("--model", model, f"{model}.json") == 0


def randomized(model: torch.nn.Module) -> torch.nn.Module:
    """Randomize weights: layers of equal size have equal weights, which would hide swapped
    layers."""
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for weight in model.parameters():
            weight.copy_(0.2 * torch.randn(weight.shape, generator=generator) + (weight == 1))
    return model


def theirs_of_gpt2(mine: Any, args: Any) -> torch.nn.Module:
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(
        vocab_size=args.vocab_size,
        n_embd=args.dim,
        n_head=args.heads,
        n_layer=args.layers,
        n_positions=args.max_position_embeddings,
        bos_token_id=None,
        eos_token_id=None,
    )
    theirs: Any = GPT2LMHeadModel(config)
    pairs = [
        (theirs.transformer.wte, mine.embedding.tokens),
        (theirs.transformer.wpe, mine.embedding.places),
        (theirs.transformer.ln_f, mine.norm),
    ]
    for block, ours in zip(theirs.transformer.h, mine.blocks, strict=True):
        attention, (up, _, down) = ours.layers
        pairs += [
            *((block.ln_1, ours.norms[0]), (block.ln_2, ours.norms[1])),
            *((block.attn.c_attn, attention.qkv), (block.attn.c_proj, attention.out)),
            *((block.mlp.c_fc, up), (block.mlp.c_proj, down)),
        ]
    for module, source in pairs:
        module.load_state_dict(source.state_dict())
    return theirs


def theirs_of_llama2(mine: Any, args: Any) -> torch.nn.Module:
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=args.vocab_size,
        hidden_size=args.dim,
        intermediate_size=mine.blocks[0].layers[1].up.weight.shape[1],
        num_attention_heads=args.heads,
        num_hidden_layers=args.layers,
        max_position_embeddings=args.max_position_embeddings,
        rms_norm_eps=1e-5,
    )
    theirs: Any = LlamaForCausalLM(config)
    theirs.model.embed_tokens.load_state_dict(mine.tokens.state_dict())
    theirs.model.norm.load_state_dict(mine.norm.state_dict())
    pairs = [(theirs.lm_head, mine.output)]
    for layer, ours in zip(theirs.model.layers, mine.blocks, strict=True):
        attention, feed_forward = ours.layers
        layer.input_layernorm.load_state_dict(ours.norms[0].state_dict())
        layer.post_attention_layernorm.load_state_dict(ours.norms[1].state_dict())
        pairs += [
            (getattr(layer.self_attn, f"{name}_proj"), getattr(attention, f"w{name}"))
            for name in "qkvo"
        ]
        pairs += [
            (getattr(layer.mlp, f"{name}_proj"), getattr(feed_forward, name))
            for name in ("gate", "up", "down")
        ]
    for linear, source in pairs:
        linear.load_state_dict({"weight": source.weight.t()})
    return theirs


@pytest.mark.parametrize(
    ("module", "name", "make"),
    [("gpt2", "GPT2", theirs_of_gpt2), ("llama2", "Llama2", theirs_of_llama2)],
)
def test_a_model_is_what_it_is_called(
    monkeypatch: pytest.MonkeyPatch, module: str, name: str, make: Callable[..., Any]
) -> None:
    pytest.importorskip("transformers")
    monkeypatch.syspath_prepend(str(EXAMPLE))
    args = importlib.import_module("parts").ModelArgs()
    mine = randomized(getattr(importlib.import_module(module), name)(True, args))
    theirs = make(mine, args).eval()
    generator = torch.Generator().manual_seed(1)
    shape = 2, args.max_position_embeddings
    input_ids = torch.randint(0, args.vocab_size, shape, generator=generator)
    with torch.no_grad():
        expected, found = theirs(input_ids).logits, mine(input_ids)
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)
