"""Train a BERT-style encoder to fill in masked bytes of Python's standard library."""

from __future__ import annotations

import torch
from transformers import BertConfig, BertForMaskedLM

from common import (
    RunLog,
    argument_parser,
    autocast,
    round_otherwise,
    standard_library_text,
    windows,
)

MASK = 256
VOCABULARY = 264
IGNORED = -100  # label that the loss ignores


def mask_bytes(
    tokens: torch.Tensor, generator: torch.Generator
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return inputs and labels: 15 % of the bytes are to be predicted, as in BERT's recipe.

    Of those, 80 % are masked, 10 % replaced by a random byte, and 10 % unchanged.
    """
    chosen = torch.rand(tokens.shape, generator=generator) < 0.15
    fate = torch.rand(tokens.shape, generator=generator)
    noise = torch.randint(256, tokens.shape, generator=generator)
    inputs = torch.where(chosen & (fate < 0.8), MASK, tokens)
    inputs = torch.where(chosen & (fate >= 0.9), noise, inputs)
    return inputs, torch.where(chosen, tokens, IGNORED)


def build_model(length: int, dropout: float, width: int = 256) -> BertForMaskedLM:
    """Return a small encoder with random weights for sequences of up to ``length`` bytes.

    :param width: width of the hidden states, a multiple of 4, the number of heads.
    """
    config = BertConfig(
        vocab_size=VOCABULARY,
        hidden_size=width,
        num_hidden_layers=4,
        num_attention_heads=4,
        intermediate_size=4 * width,
        max_position_embeddings=length,
        hidden_dropout_prob=dropout,
        attention_probs_dropout_prob=dropout,
    )
    return BertForMaskedLM(config)


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
    masks = torch.Generator().manual_seed(args.seed)

    log = RunLog(f"encoder {args.dtype} on {args.device}", args.device, steps)
    model.train()
    with log.progress():
        for _ in range(steps):
            inputs, labels = mask_bytes(next(batches), masks)
            with log.step() as losses:
                optimizer.zero_grad()
                with autocast(args.device, args.dtype):
                    loss = model(
                        input_ids=inputs.to(args.device), labels=labels.to(args.device)
                    ).loss
                loss.backward()
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                losses.append(loss.detach())

    inputs, labels = mask_bytes(next(windows(text[held_out:], (rows, length), args.seed)), masks)
    model.eval()
    with torch.no_grad(), autocast(args.device, args.dtype):
        guesses = model(input_ids=inputs.to(args.device)).logits.argmax(dim=-1).cpu()
    asked = labels != IGNORED
    log.finish((guesses == labels)[asked].float().mean().item(), args.metrics, vars(args))


if __name__ == "__main__":
    main()
