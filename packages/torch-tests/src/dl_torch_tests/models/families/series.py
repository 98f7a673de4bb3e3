"""Time series: forecasts and decisions."""

from __future__ import annotations

from typing import Any

import torch

from ..one_step import Batch
from .batches import ROWS
from .family import Family
from .pretrained import by_its_own_loss, pretrained, toward_target

PAST, FUTURE, LAGS, CHANNELS = 16, 4, (1, 2), 2

FORECASTER = {
    "prediction_length": FUTURE,
    "context_length": PAST - max(LAGS),
    "lags_sequence": list(LAGS),
    "num_time_features": 2,
    "d_model": 16,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 2,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 32,
    "decoder_ffn_dim": 32,
}


def forecast() -> Batch:
    """Return two series with time features, and their continuations."""
    return {
        "past_values": torch.randn(ROWS, PAST),
        "past_time_features": torch.randn(ROWS, PAST, 2),
        "past_observed_mask": torch.ones(ROWS, PAST),
        "future_values": torch.randn(ROWS, FUTURE),
        "future_time_features": torch.randn(ROWS, FUTURE, 2),
    }


def forecaster(name: str, kind: str, **settings: Any) -> Family:
    make = pretrained(f"{kind}ForPrediction", **(FORECASTER | settings))
    return Family(name, make, forecast, by_its_own_loss)


PATCHES = {
    "num_input_channels": CHANNELS,
    "context_length": 32,
    "prediction_length": FUTURE,
    "patch_length": 8,
    "d_model": 16,
    "loss": "mse",
}


def channels() -> Batch:
    """Return two series of two channels, and their continuations."""
    return {
        "past_values": torch.randn(ROWS, 32, CHANNELS),
        "future_values": torch.randn(ROWS, FUTURE, CHANNELS),
    }


def decisions() -> Batch:
    """Return states, actions and rewards, and the right actions."""
    steps = 6
    return {
        "states": torch.randn(ROWS, steps, 5),
        "actions": torch.randn(ROWS, steps, 3),
        "rewards": torch.randn(ROWS, steps, 1),
        "returns_to_go": torch.randn(ROWS, steps, 1),
        "timesteps": torch.arange(steps).repeat(ROWS, 1),
        "attention_mask": torch.ones(ROWS, steps),
        "target": torch.randn(ROWS, steps, 5),
    }


FAMILIES = [
    forecaster("Time Series Transformer", "TimeSeriesTransformer"),
    forecaster("Informer", "Informer", attention_type="full"),
    forecaster(
        "Autoformer", "Autoformer", label_length=4, moving_average=5, autocorrelation_factor=1
    ),
    Family(
        "PatchTST",
        pretrained(
            "PatchTSTForPrediction",
            **PATCHES,
            patch_stride=8,
            num_hidden_layers=2,
            num_attention_heads=2,
            ffn_dim=32,
        ),
        channels,
        by_its_own_loss,
    ),
    Family(
        "PatchTSMixer",
        pretrained("PatchTSMixerForPrediction", **PATCHES, patch_stride=8, num_layers=2),
        channels,
        by_its_own_loss,
    ),
    Family(
        "Decision Transformer",
        pretrained(
            "DecisionTransformerModel",
            state_dim=5,
            act_dim=3,
            hidden_size=32,
            max_ep_len=16,
            n_layer=2,
            n_head=4,
            n_positions=32,
        ),
        decisions,
        toward_target,
    ),
]
