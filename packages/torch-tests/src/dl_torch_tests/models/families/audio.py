"""Audio models, for waveforms and for spectrograms."""

from __future__ import annotations

from typing import Any

import torch

from ..one_step import Batch
from .batches import CLASSES, FIRST_WORD, ROWS, WORDS
from .family import Family
from .pretrained import by_its_own_loss, pretrained
from .seq2seq import BART

WAVE = {
    "vocab_size": WORDS,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 48,
    "conv_dim": [16, 16],
    "conv_kernel": [10, 4],
    "conv_stride": [5, 4],
    "num_feat_extract_layers": 2,
    "num_conv_pos_embeddings": 8,
    "num_conv_pos_embedding_groups": 2,
    "apply_spec_augment": False,
    "pad_token_id": 0,
}


def spoken() -> Batch:
    """Return waveforms of 600 samples, each with a transcript of four words."""
    return {
        "input_values": torch.randn(ROWS, 600),
        "labels": torch.randint(FIRST_WORD, WORDS, (ROWS, 4)),
    }


def listener(name: str, kind: str, **settings: Any) -> Family:
    """Return a family for speech recognition from waveforms with CTC, from transformers."""
    make = pretrained(f"{kind}ForCTC", ctc_loss_reduction="mean", **(WAVE | settings))
    return Family(name, make, spoken, by_its_own_loss)


def features(frames: int, bands: int) -> Batch:
    """Return spectrograms with bands before frames, and transcripts."""
    return {
        "input_features": torch.randn(ROWS, bands, frames),
        "labels": torch.randint(FIRST_WORD, WORDS, (ROWS, 6)),
    }


def frames_first(frames: int, bands: int) -> Batch:
    """Return spectrograms with frames before bands, and transcripts."""
    batch = features(frames, bands)
    return batch | {"input_features": batch["input_features"].transpose(1, 2).contiguous()}


def heard() -> Batch:
    return {
        "input_values": torch.randn(ROWS, 32, 16),
        "labels": torch.randint(CLASSES, (ROWS,)),
    }


FAMILIES = [
    Family(
        "Whisper",
        pretrained(
            "WhisperForConditionalGeneration",
            **BART,
            num_mel_bins=8,
            max_source_positions=12,
            max_target_positions=12,
            suppress_tokens=None,
            begin_suppress_tokens=None,
        ),
        lambda: features(24, 8),
        by_its_own_loss,
    ),
    listener("Wav2Vec2", "Wav2Vec2"),
    listener("HuBERT", "Hubert"),
    listener("WavLM", "WavLM", num_buckets=8, max_bucket_distance=16),
    listener("UniSpeech", "UniSpeech"),
    listener("Data2Vec audio", "Data2VecAudio", num_conv_pos_embeddings=2, conv_pos_kernel_size=3),
    listener("SEW", "SEW", squeeze_factor=2),
    Family(
        "Wav2Vec2-BERT",
        pretrained(
            "Wav2Vec2BertForCTC",
            **{
                **WAVE,
                "feature_projection_input_dim": 8,
                "left_max_position_embeddings": 4,
                "right_max_position_embeddings": 2,
            },
        ),
        lambda: frames_first(24, 8),
        by_its_own_loss,
    ),
    Family(
        "Speech2Text",
        pretrained(
            "Speech2TextForConditionalGeneration",
            **{
                **BART,
                "input_feat_per_channel": 8,
                "max_source_positions": 32,
                "max_target_positions": 16,
                "conv_channels": 16,
                "conv_kernel_sizes": [3, 3],
            },
        ),
        lambda: frames_first(24, 8),
        by_its_own_loss,
    ),
    Family(
        "Audio Spectrogram Transformer",
        pretrained(
            "ASTForAudioClassification",
            hidden_size=32,
            num_hidden_layers=2,
            num_attention_heads=4,
            intermediate_size=48,
            patch_size=8,
            frequency_stride=8,
            time_stride=8,
            max_length=32,
            num_mel_bins=16,
            num_labels=CLASSES,
        ),
        heard,
        by_its_own_loss,
    ),
]
