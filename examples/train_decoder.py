"""Train a Llama-style decoder to continue the sources of Python's standard library."""

from __future__ import annotations

import torch
from transformers import LlamaConfig, LlamaForCausalLM

from common import (
    RunLog,
    argument_parser,
    autocast,
    round_otherwise,
    standard_library_text,
    windows,
)


def build_model(length: int, dropout: float, width: int = 256) -> LlamaForCausalLM:
    """Return a small decoder with random weights: 8 query heads share 2 key-value heads.

    :param width: width of the hidden states, a multiple of 16.
    """
    config = LlamaConfig(
        vocab_size=256,
        hidden_size=width,
        intermediate_size=width * 43 // 16,
        num_hidden_layers=4,
        num_attention_heads=8,
        num_key_value_heads=2,
        max_position_embeddings=length,
        attention_dropout=dropout,
        bos_token_id=None,
        eos_token_id=None,
        pad_token_id=None,
        use_cache=False,
    )
    return LlamaForCausalLM(config)


def main() -> None:
    parser = argument_parser(__doc__)
    parser.add_argument("--steps", type=int)
    args = parser.parse_args()
    steps = args.steps or (8 if args.quick else 60)
    rows, length = (4, 64) if args.quick else (16, 128)

    torch.manual_seed(args.seed)
    model = build_model(length, args.dropout).to(args.device)
    round_otherwise(model, args.rounding, args.seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-4)
    text = standard_library_text()
    held_out = len(text) * 9 // 10
    batches = windows(text[:held_out], (rows, length), args.seed)

    log = RunLog(f"decoder {args.dtype} on {args.device}", args.device, steps)
    model.train()
    with log.progress():
        for _ in range(steps):
            tokens = next(batches)
            with log.step() as losses:
                optimizer.zero_grad()
                tokens = tokens.to(args.device)
                with autocast(args.device, args.dtype):
                    loss = model(input_ids=tokens, labels=tokens).loss
                loss.backward()
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                losses.append(loss.detach())

    tokens = next(windows(text[held_out:], (rows, length), args.seed))
    model.eval()
    with torch.no_grad(), autocast(args.device, args.dtype):
        guesses = model(input_ids=tokens.to(args.device)).logits.argmax(dim=-1).cpu()
    right = guesses[:, :-1] == tokens[:, 1:]
    log.finish(right.float().mean().item(), args.metrics, vars(args))


if __name__ == "__main__":
    main()
