"""Files, pickles and copies of dl tensors preserve values, views, dtypes and devices."""

from __future__ import annotations

import copy
import io
import pickle
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

DTYPES = (torch.float32, torch.bfloat16, torch.complex64, torch.int64, torch.uint8, torch.bool)


def saved_and_loaded(value: Any, **options: Any) -> Any:
    file = io.BytesIO()
    torch.save(value, file)
    file.seek(0)
    return torch.load(file, **options)


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: str(dtype)[6:])
@pytest.mark.parametrize("target", [None, "cpu", "dl", "dl:0"])
def test_a_tensor_is_loaded_where_it_is_wanted(dtype: torch.dtype, target: str | None) -> None:
    x = torch.arange(6).reshape(2, 3).to("dl", dtype)
    loaded = saved_and_loaded(x, map_location=target)
    assert loaded.device.type == ("cpu" if target == "cpu" else "dl")
    assert loaded.dtype == dtype
    assert torch.equal(loaded.cpu(), x.cpu())


def test_views_stay_views_of_one_storage() -> None:
    x = torch.arange(10.0, device="dl")
    loaded = saved_and_loaded({"whole": x, "tail": x[4:], "turned": x.view(2, 5).t()})
    loaded["whole"][4] = -1
    assert loaded["tail"][0].item() == -1
    assert loaded["turned"].stride() == (1, 5)
    assert loaded["turned"][4, 0].item() == -1


def test_parameters_keep_what_they_are() -> None:
    parameter = nn.Parameter(torch.ones(2, device="dl"), requires_grad=False)
    loaded = saved_and_loaded(parameter)
    assert isinstance(loaded, nn.Parameter) and not loaded.requires_grad


def test_a_file_is_mapped_into_memory(tmp_path: Path) -> None:
    x = torch.arange(1000.0, device="dl")
    torch.save(x, tmp_path / "x.pt")
    loaded = torch.load(tmp_path / "x.pt", mmap=True, map_location="cpu")
    assert torch.equal(loaded, x.cpu())


def test_a_state_dict_goes_between_cpu_and_dl() -> None:
    torch.manual_seed(0)
    here, there = nn.Linear(3, 3), nn.Linear(3, 3).to("dl")
    there.load_state_dict(here.state_dict())
    assert there.weight.device.type == "dl"
    assert torch.equal(there.weight.cpu(), here.weight)
    fresh = nn.Linear(3, 3)
    fresh.load_state_dict(saved_and_loaded(there.state_dict()))
    assert fresh.weight.device.type == "cpu"
    assert torch.equal(fresh.weight, here.weight)


def test_the_state_of_an_optimizer_and_a_generator_is_loaded() -> None:
    weight = torch.ones(3, device="dl", requires_grad=True)
    optimizer = torch.optim.AdamW([weight])
    weight.sum().backward()
    optimizer.step()
    loaded = saved_and_loaded(optimizer.state_dict())
    torch.testing.assert_close(loaded["state"][0]["exp_avg"], optimizer.state[weight]["exp_avg"])
    state = saved_and_loaded(torch.dl.get_rng_state())
    expected = torch.rand(3, device="dl")
    torch.dl.set_rng_state(state)
    assert torch.equal(torch.rand(3, device="dl"), expected)


def test_pickle_and_deepcopy_make_independent_tensors() -> None:
    x = torch.arange(4.0, device="dl")
    for twin in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x), x.clone()):
        assert twin.device == x.device
        twin.zero_()
        assert x.tolist() == [0, 1, 2, 3]
    pair = copy.deepcopy([x, x[2:]])
    pair[0][2] = 9
    assert pair[1].tolist() == [9, 3]


def test_printing_shows_values_and_device() -> None:
    assert repr(torch.tensor([1.5, -2], device="dl")) == "tensor([ 1.5000, -2.0000], device='dl:0')"
    assert "[...]" not in repr(torch.arange(5, device="dl"))
    assert repr(torch.empty(0, device="dl")) == "tensor([], device='dl:0')"
    assert "1.+2.j" in repr(torch.tensor([1 + 2j], device="dl"))
    assert "dtype=torch.bfloat16" in repr(torch.ones(1, device="dl", dtype=torch.bfloat16))


def test_numpy_needs_the_cpu_and_says_so() -> None:
    x = torch.ones(2, device="dl")
    with pytest.raises(TypeError, match=r"Tensor\.cpu\(\)"):
        x.numpy()
    assert x.cpu().numpy().tolist() == [1, 1]


@pytest.mark.devices(2)
def test_a_tensor_of_the_second_device_comes_back_there() -> None:
    x = torch.ones(2, device="dl:1")
    assert saved_and_loaded(x).device == torch.device("dl:1")
    assert saved_and_loaded(x, map_location={"dl:1": "dl:0"}).device == torch.device("dl:0")
