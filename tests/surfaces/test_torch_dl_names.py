"""torch.dl has the names of torch.cuda and torch.xpu, or a documented reason why not."""

from __future__ import annotations

import copy
import inspect
from types import ModuleType

import pytest
import torch
import torch.cuda.comm  # an attribute of torch.cuda only after an explicit import

from dl_core.torch_backend.refused import REFUSED, refusal

# Names that the device's modules import.
IMPORTED = {"Callable", "Device", "NewType", "Optional", "TYPE_CHECKING", "cast", "classproperty"}
# Facts about releases of CUDA and NVIDIA's hardware.
OF_CUDA = {"DEVICE_REQUIREMENT", "PYTORCH_RELEASES_CODE_CC"}


def public(module: ModuleType) -> set[str]:
    """Return the public names of a module, without modules and functions defined elsewhere."""
    found = set(getattr(module, "__all__", ()))
    for name, value in vars(module).items():
        if name.startswith("_") or name in IMPORTED | OF_CUDA:
            continue
        home = value.__name__ if inspect.ismodule(value) else getattr(value, "__module__", None)
        if isinstance(home, str) and home.startswith("torch."):
            found.add(name)
    return found


def missing(names: set[str]) -> set[str]:
    return {name for name in names if not hasattr(torch.dl, name) and name not in REFUSED}


@pytest.mark.parametrize("name", ["cuda", "xpu"])
def test_every_name_is_there_or_refused(name: str) -> None:
    names = public(getattr(torch, name))
    assert len(names) > 50
    assert missing(names) == set()
    assert missing({*names, "no_such_name"}) == {"no_such_name"}


def test_the_memory_module_has_the_names_of_cudas() -> None:
    names = set(torch.cuda.memory.__all__)
    assert len(names) > 25
    assert {n for n in names if not hasattr(torch.dl.memory, n) and n not in REFUSED} == set()
    assert all(hasattr(torch.dl.memory, name) for name in torch.dl.memory.__all__)
    with pytest.raises(AttributeError, match="no private pools"):
        _ = torch.dl.memory.MemPool


def test_nothing_is_refused_that_is_there_or_unknown() -> None:
    assert {name for name in REFUSED if hasattr(torch.dl, name)} == set()
    assert set(REFUSED) <= public(torch.cuda) | public(torch.xpu)


def test_a_refused_name_gives_the_reason() -> None:
    with pytest.raises(
        AttributeError, match=r"\[torch.dl.CUDAGraph\] is not available: use torch\.acc"
    ):
        _ = torch.dl.CUDAGraph
    with pytest.raises(AttributeError, match=r"module 'torch\.dl' has no attribute 'no_such_name'"):
        _ = torch.dl.no_such_name
    assert refusal("no_such_name") is None


def test_names_are_listed() -> None:
    listed = dir(torch.dl)
    assert set(torch.dl.__all__) <= set(listed)
    assert {"default_generators", "FloatTensor", "FloatStorage"} <= set(listed)
    assert all(hasattr(torch.dl, name) for name in listed)


def test_modules_are_imported_by_their_names() -> None:
    from torch.dl.amp import GradScaler
    from torch.dl.memory import memory_allocated
    from torch.dl.random import manual_seed
    from torch.dl.streams import Stream

    assert GradScaler is torch.dl.amp.GradScaler and Stream is torch.dl.Stream
    assert memory_allocated is torch.dl.memory_allocated and manual_seed is torch.dl.manual_seed


def test_out_of_memory_is_torchs_own_error() -> None:
    assert torch.dl.OutOfMemoryError is torch.OutOfMemoryError
    with pytest.raises(torch.dl.OutOfMemoryError):
        torch.empty(2**52, device="dl")


def test_amp() -> None:
    left = torch.ones(2, 2, device="dl")
    with torch.dl.amp.autocast():
        assert (left @ left).dtype == torch.bfloat16
    with torch.dl.amp.autocast(dtype=torch.float16):
        assert (left @ left).dtype == torch.float16
    with torch.dl.amp.autocast(enabled=False):
        assert (left @ left).dtype == torch.float32
    scaler = torch.dl.amp.GradScaler(init_scale=4.0)
    assert scaler.is_enabled() and scaler.scale(left.sum()).item() == 16
    assert copy.deepcopy(scaler.state_dict())["scale"] == 4


def test_amp_of_autograd_functions() -> None:
    class Square(torch.autograd.Function):
        @staticmethod
        @torch.dl.amp.custom_fwd(cast_inputs=torch.float32)
        def forward(ctx: torch.autograd.function.FunctionCtx, x: torch.Tensor) -> torch.Tensor:
            assert x.dtype == torch.float32 and not torch.is_autocast_enabled("dl")
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        @torch.dl.amp.custom_bwd
        def backward(ctx: torch.autograd.Function, grad: torch.Tensor) -> torch.Tensor:
            (x,) = ctx.saved_tensors
            return 2 * x * grad

    x = torch.full((2,), 3.0, device="dl", dtype=torch.float16, requires_grad=True)
    with torch.dl.amp.autocast(dtype=torch.float16):
        Square.apply(x).sum().backward()
    assert x.grad is not None and x.grad.tolist() == [6, 6]


def test_tensor_types() -> None:
    made = torch.dl.HalfTensor(2, 3)
    assert made.shape == (2, 3) and made.type() == "torch.dl.HalfTensor"
    assert isinstance(made, torch.dl.HalfTensor) and not isinstance(made, torch.dl.FloatTensor)
    assert not isinstance(torch.ones(1), torch.dl.FloatTensor)
    assert torch.dl.LongTensor([1, 2]).tolist() == [1, 2]
    assert torch.dl.FloatTensor().shape == (0,)
    assert torch.dl.FloatTensor(torch.Size([2])).shape == (2,)
    assert torch.ones(2).type(torch.dl.FloatTensor).device.type == "dl"


def test_memory_names() -> None:
    held = torch.ones(1000, device="dl")
    assert torch.dl.memory_cached() == torch.dl.memory_reserved() >= held.nbytes
    stats, nested = torch.dl.memory_stats(), torch.dl.memory_stats_as_nested_dict()
    assert nested["allocated_bytes"]["all"]["current"] == stats["allocated_bytes.all.current"]
    free, total = torch.dl.mem_get_info()
    assert 0 <= torch.dl.device_memory_used() <= total and free <= total


def test_facts() -> None:
    architecture = torch.dl.get_device_properties(0).architecture
    assert torch.dl.get_arch_list() == ([architecture] if architecture else [])
    assert torch.dl.get_gencode_flags() == ""
    assert not torch.dl.is_current_stream_capturing() and not torch.dl.is_tf32_supported()
    torch.dl.ipc_collect()
    with pytest.raises(ValueError, match="dl:0 is not a peer of itself"):
        torch.dl.can_device_access_peer(0, "dl:0")


def test_synchronizing_operators_are_not_reported() -> None:
    torch.dl.set_sync_debug_mode("default")
    assert torch.dl.get_sync_debug_mode() == 0
    with pytest.raises(NotImplementedError, match="'warn' would report none"):
        torch.dl.set_sync_debug_mode("warn")
    with pytest.raises(ValueError, match="unknown mode 'loud'"):
        torch.dl.set_sync_debug_mode("loud")
