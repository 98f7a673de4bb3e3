"""The page says what was recorded, of every family."""

from __future__ import annotations

import pytest

from .page import PAGE, page, recorded
from .table import FAMILIES

ASKED_FOR = """
Llama, InternLM2, Qwen2, Qwen3, Qwen3-MoE, DeepSeek-V3, Mixtral, GPT-2, GPT-NeoX, Gemma, Phi, OLMo,
Falcon, BLOOM, OPT, Mamba, RWKV, BERT, RoBERTa, ALBERT, DeBERTa, ELECTRA, DistilBERT, T5, BART,
Whisper, Wav2Vec2, CLIP, SigLIP, ViT, DeiT, Swin, BEiT, ConvNeXt, ResNet, MobileNet v2, RegNet,
EfficientNet, DETR, SegFormer, Mask2Former, DPT, InternVL, Qwen2-VL, LLaVA, VideoMAE,
Time Series Transformer, PatchTST, GPT-OSS, U-Net diffusion, YOLO, PointNet, Graph convolution,
LSTM, GRU, Autoencoder, GAN
"""
NAMES = ASKED_FOR.replace("\n", " ").strip().split(", ")


def test_the_page_is_that_of_the_record() -> None:
    told = "run `python -m models.families.record` in tests/"
    assert PAGE.read_text(encoding="utf-8") == page(recorded()), told


@pytest.mark.parametrize("name", NAMES)
def test_families_that_were_asked_for_are_there(name: str) -> None:
    assert name in FAMILIES


def test_every_family_is_recorded_and_right() -> None:
    measured = recorded()
    assert measured
    for vendor, families in measured.items():
        assert list(families) == list(FAMILIES), vendor
        wrong = {name: found["problem"] for name, found in families.items() if found["problem"]}
        assert wrong == {}, vendor


def test_names_are_unique_as_tests() -> None:
    assert len({str(family) for family in FAMILIES.values()}) == len(FAMILIES)
