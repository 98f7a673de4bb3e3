"""The page shows the recorded results of every family."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dl_torch_tests.device.run import Result
from dl_torch_tests.models.families.run import line
from dl_torch_tests.models.families.table import FAMILIES

from .page import PAGE, page, recorded
from .record import entry, write

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


FACTS = {
    "outputs": 0.123456,
    "gradients": 2.0,
    "weights": 0.5,
    "losses": [4.0, 3.0],
    "native": 0.99,
    "calls": 100,
    "fallbacks": {"digamma": 1},
    "problem": "gradient of a [norm]: off by 2",
}
RESULTS = [
    Result(("Llama", "train", "float32"), FACTS["problem"], 100, 0.0, facts=FACTS),
    Result(("Qwen2", "train", "float32"), "the process ended", 0, 0.0, crashed=True),
]


def test_what_is_recorded_can_be_read_again(tmp_path: Path) -> None:
    path = tmp_path / "models.json"
    measured = write(path, RESULTS)
    assert json.loads(path.read_text(encoding="utf-8")) == measured
    assert measured["Llama"] == FACTS | {"outputs": 0.1235}


def test_the_page_says_what_is_wrong() -> None:
    text = page({"one": {result.key[0]: entry(result) for result in RESULTS}})
    assert "0 of 2 families pass; 0 of them need no fallback." in text
    assert "| Llama | 0.12 | 2.00 | 0.50 | 4 → 3 | 99.00% | `digamma` 1 |" in text
    assert "- Llama: gradient of a [norm]: off by 2" in text
    assert "- Qwen2: the process ended" in text


def test_a_family_whose_process_ended_is_said_to_have_done_so() -> None:
    assert "nothing measured: the process ended" in line(RESULTS[1])
