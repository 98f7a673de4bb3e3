"""transformers' ``attn_implementation="flex_attention"`` on dl, which calls ``torch.compile``."""

from __future__ import annotations

import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from tiny import DEVICE

pytestmark = pytest.mark.filterwarnings(
    "ignore::UserWarning", "ignore::FutureWarning", "ignore::DeprecationWarning"
)


def test_results_and_gradients_are_those_of_eager_attention() -> None:
    config = LlamaConfig(
        vocab_size=50,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
    )
    torch.manual_seed(0)
    tokens = torch.randint(0, 50, (2, 20)).to(DEVICE)
    mask = torch.ones(2, 20, dtype=torch.int64)
    mask[1, :7] = 0  # padding at the left
    mask = mask.to(DEVICE)
    seen = mask.bool()[..., None]
    state = LlamaForCausalLM(config).state_dict()
    found = {}
    for name in ("eager", "flex_attention"):
        model = LlamaForCausalLM._from_config(config, attn_implementation=name).to(DEVICE)
        model.load_state_dict(state)
        logits = model(input_ids=tokens, attention_mask=mask).logits.where(seen, 0.0)
        logits.square().mean().backward()
        found[name] = [logits, *(parameter.grad for parameter in model.parameters())]
    for one, other in zip(*found.values(), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-5)
