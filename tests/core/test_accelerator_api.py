"""Interfaces for any accelerator: torch.accelerator, torch's own hooks, DLPack."""

from __future__ import annotations

import pickle

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

MODULE = (
    "_is_in_bad_fork",
    "_lazy_init",
    "current_device",
    "current_stream",
    "default_stream",
    "device",
    "device_count",
    "device_of",
    "empty_cache",
    "get_amp_supported_dtype",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "get_rng_state",
    "get_rng_state_all",
    "init",
    "initial_seed",
    "is_available",
    "is_bf16_supported",
    "is_initialized",
    "manual_seed",
    "manual_seed_all",
    "max_memory_allocated",
    "max_memory_reserved",
    "mem_get_info",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "memory_summary",
    "reset_peak_memory_stats",
    "seed",
    "seed_all",
    "set_device",
    "set_rng_state",
    "set_rng_state_all",
    "set_stream",
    "stream",
    "synchronize",
    "Event",
    "Stream",
    "StreamContext",
)
"""Attributes that torch and its libraries look up in a device's module."""


@pytest.mark.parametrize("name", MODULE)
def test_the_module_has_what_torch_looks_up(name: str) -> None:
    assert callable(getattr(torch.get_device_module("dl"), name))


def test_the_module_says_that_it_is_initialized() -> None:
    assert torch.dl._initialized is True


def test_the_device_is_the_accelerator() -> None:
    accelerator = torch.accelerator
    assert accelerator.is_available()
    assert accelerator.current_accelerator() == torch.device("dl")
    assert accelerator.device_count() == torch.dl.device_count()
    assert accelerator.current_device_index() == 0
    accelerator.synchronize()
    assert accelerator.current_stream().device.type == "dl"


def test_device_strings_name_the_device() -> None:
    assert torch.device("dl").type == "dl" and torch.device("dl").index is None
    assert str(torch.device("dl", 0)) == "dl:0"
    assert torch.empty(1, device="dl").device == torch.device("dl:0")
    assert torch.empty(1, device=0).device == torch.device("dl:0")
    with pytest.raises(RuntimeError, match="dl"):
        torch.device("dlx")


@pytest.mark.devices(2)
def test_the_current_device_is_where_tensors_go() -> None:
    with torch.accelerator.device_index(1):
        assert torch.accelerator.current_device_index() == 1
        assert torch.ones(1, device="dl").device == torch.device("dl:1")
    torch.accelerator.set_device_index(1)
    assert torch.ones(1, device="dl").device == torch.device("dl:1")
    assert torch.dl.current_device() == 1
    torch.accelerator.set_device_index(0)
    assert torch.accelerator.current_device_index() == 0


def test_capability_lists_dtypes() -> None:
    supported = torch.accelerator.get_device_capability()["supported_dtypes"]
    assert torch.float32 in supported
    assert all(isinstance(dtype, torch.dtype) for dtype in supported)


def test_streams_and_events_of_torch_itself() -> None:
    stream, event = torch.Stream("dl"), torch.Event("dl", enable_timing=True)
    with stream:
        assert torch.accelerator.current_stream() == stream
        x = torch.ones(4, device="dl") + 1
        event.record()
    assert torch.accelerator.current_stream() != stream
    later = torch.Event("dl", enable_timing=True)
    later.record(stream)
    later.synchronize()
    assert event.query() and later.query()
    assert event.elapsed_time(later) >= 0
    stream.synchronize()
    assert x.tolist() == [2] * 4


def test_a_context_makes_the_default_device() -> None:
    with torch.device("dl"):
        assert torch.zeros(2).device.type == "dl"
        assert nn.Linear(2, 2).weight.device.type == "dl"
        assert torch.arange(3).device.type == "dl"
        assert torch.tensor([1.0]).device.type == "dl"
    torch.set_default_device("dl")
    try:
        assert torch.rand(2).device.type == "dl"
    finally:
        torch.set_default_device(None)
    assert torch.rand(2).device.type == "cpu"


def test_pinned_batches_of_a_data_loader() -> None:
    data = TensorDataset(torch.arange(8.0))
    batches = [batch for (batch,) in DataLoader(data, batch_size=4, pin_memory=True)]
    assert all(batch.is_pinned() for batch in batches)
    there = [batch.to("dl", non_blocking=True) for batch in batches]
    assert torch.cat(there).tolist() == list(range(8))


def test_dlpack_shares_memory_within_the_device() -> None:
    x = torch.arange(6.0, device="dl").reshape(2, 3)
    shared = torch.from_dlpack(x.t())
    assert shared.device == x.device and shared.stride() == (1, 3)
    shared[0, 1] = 9
    assert x[1, 0].item() == 9


def test_generated_names() -> None:
    x = torch.ones(2).dl()
    assert x.is_dl and not torch.ones(2).is_dl
    assert nn.Linear(2, 2).dl().weight.is_dl
    assert x.untyped_storage().is_dl


@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated")
def test_torch_func_transforms() -> None:
    x = torch.linspace(0, 1, 12).reshape(4, 3).to("dl")

    def f(row: torch.Tensor) -> torch.Tensor:
        return (row.sin() ** 2).sum()

    gradient = torch.func.vmap(torch.func.grad(f))(x)
    torch.testing.assert_close(gradient, torch.sin(2 * x))
    _, tangent = torch.func.jvp(torch.sin, (x,), (torch.ones_like(x),))
    torch.testing.assert_close(tangent, x.cos())
    hessian = torch.func.hessian(lambda row: (row**3).sum())(x[1])
    torch.testing.assert_close(hessian, torch.diag(6 * x[1]))


def test_gradcheck_in_float64() -> None:
    x = torch.randn(3, 4, dtype=torch.float64, device="dl", requires_grad=True)
    assert torch.autograd.gradcheck(lambda t: nn.functional.layer_norm(t, (4,)).cumsum(0), (x,))


@pytest.mark.parametrize("options", [{}, {"foreach": True}, {"fused": True}], ids=str)
@pytest.mark.parametrize("kind", [torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW])
def test_every_form_of_an_optimizer_steps_as_on_the_cpu(
    kind: type[torch.optim.Optimizer], options: dict[str, bool]
) -> None:
    def steps(device: str) -> torch.Tensor:
        weights = [torch.full((3,), float(at)).to(device).requires_grad_() for at in (1, 2)]
        optimizer = kind(weights, lr=0.1, **options)
        for _ in range(3):
            optimizer.zero_grad()
            (weights[0] * weights[1]).sum().backward()
            optimizer.step()
        return torch.stack(weights).detach().cpu()

    torch.testing.assert_close(steps("dl"), steps("cpu"))


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU, nn.RNN])
def test_recurrent_networks_train_as_on_the_cpu(kind: type[nn.RNNBase]) -> None:
    torch.manual_seed(0)
    here = kind(3, 4, num_layers=2, bidirectional=True)
    there = pickle.loads(pickle.dumps(here)).to("dl")
    x = torch.randn(5, 2, 3)
    outputs = here(x)[0], there(x.to("dl"))[0]
    torch.testing.assert_close(outputs[1].cpu(), outputs[0])
    for output in outputs:
        output.square().sum().backward()
    for mine, theirs in zip(here.parameters(), there.parameters(), strict=True):
        torch.testing.assert_close(theirs.grad.cpu(), mine.grad)


def test_nested_threads_keep_their_own_device_and_stream() -> None:
    from concurrent.futures import ThreadPoolExecutor

    def work(at: int) -> list[float]:
        stream = torch.Stream("dl")
        with stream:
            x = torch.full((64,), float(at), device="dl")
            for _ in range(50):
                x = (x + 1).relu() - 1
            stream.synchronize()
            return [*set(x.tolist())]

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, range(8))) == [[float(at)] for at in range(8)]
