"""safetensors files: the library parses device names itself, and accepts device indices.

With dl-integrations it accepts names of dl as well.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, load_model, save_file, save_model

TENSORS = {
    "weight": torch.arange(6.0).reshape(2, 3),
    "half": torch.ones(3, dtype=torch.bfloat16),
    "steps": torch.tensor([7]),
    "none": torch.empty(0, 4),
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "model.safetensors"
    save_file(TENSORS, path)
    return path


def test_a_number_loads_onto_that_device(file: Path) -> None:
    loaded = load_file(file, device=torch.device("dl:0").index)
    assert loaded.keys() == TENSORS.keys()
    for name, tensor in loaded.items():
        assert tensor.device == torch.device("dl", 0)
        assert tensor.dtype == TENSORS[name].dtype and torch.equal(tensor.cpu(), TENSORS[name])


@pytest.mark.devices(2)
def test_the_number_says_which_device(file: Path) -> None:
    assert load_file(file, device=1)["weight"].device == torch.device("dl", 1)


def test_parts_of_a_file_load_onto_the_device(file: Path) -> None:
    with safe_open(file, framework="pt", device=0) as opened:
        assert opened.get_tensor("weight").device == torch.device("dl", 0)
        part = opened.get_slice("weight")[:, 1:]
    assert part.device == torch.device("dl", 0) and part.tolist() == [[1, 2], [4, 5]]


def test_tensors_of_dl_are_saved(file: Path) -> None:
    save_file({name: tensor.to("dl") for name, tensor in TENSORS.items()}, file)
    loaded = load_file(file)
    assert all(torch.equal(loaded[name], tensor) for name, tensor in TENSORS.items())


def test_a_model_with_tied_weights_goes_there_and_back(tmp_path: Path) -> None:
    model = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)).to("dl")
    model[1].weight = model[0].weight
    want = model[0].weight.detach().clone()
    save_model(model, str(tmp_path / "model.safetensors"))
    with torch.no_grad():
        model[0].weight.zero_()
    load_model(model, tmp_path / "model.safetensors", device=0)
    assert torch.equal(model[1].weight, want) and model[0].weight is model[1].weight


def test_the_name_loads_onto_the_device(file: Path) -> None:
    """dl-integrations, which the environment has, accepts the name on behalf of safetensors."""
    for device in ("dl", "dl:0", torch.device("dl")):
        loaded = load_file(file, device=device)
        assert all(tensor.device == torch.device("dl", 0) for tensor in loaded.values())
        assert all(torch.equal(tensor.cpu(), TENSORS[name]) for name, tensor in loaded.items())


def test_another_name_is_refused_by_the_library_itself(file: Path) -> None:
    with pytest.raises(SafetensorError, match="device dx is invalid"):
        load_file(file, device="dx")


def test_a_pretrained_model_moves_to_the_device(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    config = transformers.LlamaConfig(
        vocab_size=16,
        hidden_size=8,
        intermediate_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=2,
    )
    model = transformers.LlamaForCausalLM(config)
    model.save_pretrained(tmp_path)
    loaded = transformers.LlamaForCausalLM.from_pretrained(tmp_path).to("dl")
    want, got = model.state_dict(), loaded.state_dict()
    assert all(torch.equal(got[name].cpu(), want[name]) for name in want)
    assert {each.device.type for each in got.values()} == {"dl"}
