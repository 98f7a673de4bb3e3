"""While CUDA is mocked, the device "cuda" is dl; afterwards torch is restored."""

from __future__ import annotations

import inspect
import pickle
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from core.processes import output
from torch import nn
from torch.utils import _device

from dl_core.torch_backend import mock_cuda
from dl_core.torch_backend.mock_cuda import table
from dl_core.torch_backend.mock_cuda.profiling import activities_to_dl
from dl_core.torch_backend.mock_cuda.replacing import owner_of

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore:TypedStorage")


@pytest.fixture
def cuda() -> Iterator[None]:
    with mock_cuda.mocked():
        yield


MAKES: dict[str, Callable[[], Any]] = {
    "factory, text": lambda: torch.ones(2, device="cuda"),
    "factory, index": lambda: torch.ones(2, device="cuda:0"),
    "factory, device": lambda: torch.randn(2, device=torch.device("cuda", 0)),
    "like": lambda: torch.zeros_like(torch.ones(2), device="cuda"),
    "new": lambda: torch.ones(2).new_full((2,), 3.0, device="cuda"),
    "tensor": lambda: torch.tensor([1.0], device="cuda"),
    "to": lambda: torch.ones(2).to("cuda"),
    "to, named": lambda: torch.ones(2).to(device="cuda:0", dtype=torch.float16),
    "cuda": lambda: torch.ones(2).cuda(),
    "cuda, index": lambda: torch.ones(2).cuda(0),
    "cuda, not blocking": lambda: torch.ones(2).cuda(non_blocking=True),
    "cuda, device": lambda: torch.ones(2).cuda("cuda:0"),
    "type": lambda: torch.ones(2).type("torch.cuda.HalfTensor"),
    "type, class": lambda: torch.ones(2).type(torch.cuda.FloatTensor),
    "tensor type, sizes": lambda: torch.cuda.FloatTensor(2, 3),
    "tensor type, values": lambda: torch.cuda.LongTensor([1, 2]),
    "module": lambda: nn.Linear(2, 2).cuda().weight,
    "module, to": lambda: nn.Linear(2, 2).to("cuda:0").weight,
    "module, made there": lambda: nn.Linear(2, 2, device="cuda").weight,
    "module, empty": lambda: nn.Linear(2, 2, device="meta").to_empty(device="cuda").weight,
    "generator": lambda: torch.randn(
        2, device="cuda", generator=torch.Generator(device="cuda").manual_seed(1)
    ),
    "storage": lambda: torch.ones(2).untyped_storage().cuda(),
    "packed sequence": lambda: nn.utils.rnn.pack_sequence([torch.ones(3)]).cuda().data,
    "fft": lambda: torch.fft.fftfreq(4, device="cuda"),
    "autograd": lambda: torch.ones(2, device="cuda", requires_grad=True).sum(),
}


@pytest.mark.usefixtures("cuda")
@pytest.mark.parametrize("name", MAKES)
def test_what_is_made_for_cuda_is_on_dl(name: str) -> None:
    made = MAKES[name]()
    assert made.device == torch.device("cuda:0") == torch.device("dl", 0)
    assert made.is_cuda


@pytest.mark.usefixtures("cuda")
def test_devices_are_devices() -> None:
    device = torch.device("cuda")
    assert isinstance(device, torch.device) and not isinstance("cuda", torch.device)
    assert pickle.loads(pickle.dumps(torch.device("cuda:0"))) == torch.device("dl:0")
    assert torch.device("cpu") == torch.ones(1).device
    assert type(device) == torch.device and {type(device): 1}[torch.device] == 1  # noqa: E721
    assert not torch.ones(1).is_cuda
    with device:
        assert torch.zeros(2).is_cuda
    with pytest.raises(RuntimeError, match="dl:7"):
        torch.cuda.set_device("cuda:7")


@pytest.mark.usefixtures("cuda")
def test_default_device() -> None:
    torch.set_default_device("cuda")
    try:
        assert torch.zeros(2).is_cuda
    finally:
        torch.set_default_device(None)


@pytest.mark.usefixtures("cuda")
def test_files_written_on_cuda_and_places_for_what_is_loaded(tmp_path: Path) -> None:
    path = tmp_path / "tensor.pt"
    torch.save(torch.ones(2, device="cuda"), path)
    with path.open("rb") as file:
        places: list[Any] = ["cuda", torch.device("cuda:0"), {"dl:0": "cuda:0"}, None]
        places += [lambda storage, _: storage.cuda(0), {"cuda:0": "cuda:0"}]
        for place in places:
            file.seek(0)
            assert torch.load(file, map_location=place).is_cuda, place
    # As in a file that was written on CUDA.
    storage = torch.UntypedStorage(4)
    assert torch.serialization.default_restore_location(storage, "cuda:0").device.type == "dl"


@pytest.mark.usefixtures("cuda")
def test_mixed_precision() -> None:
    left, right = torch.ones(2, 2, device="cuda"), torch.ones(2, 2, device="cuda")
    contexts: list[Any] = [
        torch.autocast("cuda", dtype=torch.float16),
        torch.amp.autocast("cuda", dtype=torch.float16),
        torch.cuda.amp.autocast(),
    ]
    for context in contexts:
        with context:
            assert torch.is_autocast_enabled("cuda")
            assert (left @ right).dtype == torch.float16
    for scaler in (torch.amp.GradScaler(), torch.cuda.amp.GradScaler(), torch.GradScaler("cuda")):
        assert scaler.is_enabled()
        assert scaler.scale(left.sum()).item() == 4 * 65536


@pytest.mark.usefixtures("cuda")
def test_streams_and_events() -> None:
    side = torch.cuda.Stream(device="cuda:0", priority=-1)
    assert isinstance(side, torch.cuda.Stream) and isinstance(side, torch.Stream)
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    with torch.cuda.stream(side):
        assert torch.cuda.current_stream() == side
        made = torch.ones(4, device="cuda") * 2
    torch.cuda.current_stream().wait_stream(side)
    made.record_stream(torch.cuda.current_stream())
    end.record()
    torch.cuda.synchronize()
    assert start.elapsed_time(end) >= 0 and made.sum().item() == 8


@pytest.mark.usefixtures("cuda")
def test_random_numbers() -> None:
    torch.cuda.manual_seed_all(5)
    first = torch.rand(4, device="cuda")
    with torch.random.fork_rng(devices=[0], device_type="cuda"):
        torch.rand(4, device="cuda")
    second = torch.rand(4, device="cuda")
    torch.cuda.random.manual_seed(5)
    assert torch.equal(first, torch.rand(4, device="cuda"))
    assert torch.equal(second, torch.rand(4, device="cuda"))


@pytest.mark.usefixtures("cuda")
def test_marks_for_tools_do_nothing() -> None:
    torch.cuda.nvtx.range_push("step")
    with torch.cuda.nvtx.range("inner"):
        torch.cuda.nvtx.mark("here")
    torch.cuda.nvtx.range_pop()
    torch.cuda.profiler.start()
    torch.cuda.profiler.stop()
    with torch.autograd.profiler.emit_nvtx(record_shapes=True) as ranges:
        torch.ones(2, device="cuda", requires_grad=True).sum().backward()
    with torch.autograd.profiler.emit_nvtx(enabled=False):
        pass
    with pytest.raises(RuntimeError, match="not reentrant"), ranges:
        pass


@pytest.mark.usefixtures("cuda")
@pytest.mark.parametrize("name", ["CUDAGraph", "current_blas_handle", "make_graphed_callables"])
def test_what_cannot_be_mapped_says_so(name: str) -> None:
    with pytest.raises(NotImplementedError, match=rf"\[torch.cuda.{name}\] CUDA is mocked by dl"):
        getattr(torch.cuda, name)()


@pytest.mark.usefixtures("cuda")
@pytest.mark.filterwarnings("ignore:torch.set_default_tensor_type")
def test_the_default_tensor_type() -> None:
    try:
        for given in (torch.cuda.DoubleTensor, "torch.cuda.DoubleTensor"):
            torch.set_default_tensor_type(given)
            made = torch.ones(2)
            assert made.device.type == "dl" and made.dtype == torch.float64
            torch.set_default_tensor_type(torch.FloatTensor)
            assert torch.ones(2).device.type == "cpu" and torch.ones(2).dtype == torch.float32
        with pytest.raises(TypeError, match="only floating-point types"):
            torch.set_default_tensor_type(torch.cuda.LongTensor)
        assert torch.ones(2).device.type == "cpu"
    finally:
        torch.set_default_device(None)
        torch.set_default_tensor_type(torch.FloatTensor)


@pytest.mark.usefixtures("cuda")
def test_communication_within_a_process() -> None:
    x = torch.arange(4.0, device="cuda")
    comm = torch.cuda.comm
    assert torch.equal(comm.broadcast(x, devices=[0])[0], x)
    assert torch.equal(comm.gather(comm.scatter(x, devices=[0]), destination=0), x)
    assert torch.equal(comm.reduce_add([x], destination=0), x)
    assert torch.equal(comm.reduce_add_coalesced([[x]], destination=0)[0], x)
    assert torch.cuda.nccl.version() >= (2, 10) and not torch.cuda.nccl.is_available([x])
    assert not torch.cuda.tunable.is_enabled()


@pytest.mark.usefixtures("cuda")
def test_a_dump_of_the_memory(tmp_path: Path) -> None:
    torch.cuda.memory._record_memory_history(max_entries=100)
    torch.ones(2, device="cuda")
    torch.cuda.memory._dump_snapshot(str(tmp_path / "memory.pickle"))
    torch.cuda.memory._record_memory_history(enabled=None)
    with (tmp_path / "memory.pickle").open("rb") as file:
        assert pickle.load(file)["device_traces"][0]


@pytest.mark.usefixtures("cuda")
def test_profiler_watches_dl() -> None:
    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=activities) as profile:
        torch.ones(4, device="cuda").sum().item()
    assert any("aten::sum" in row.key for row in profile.key_averages())
    assert profile.key_averages().table(sort_by="cuda_time_total")
    filtered = [torch.profiler.ProfilerActivity.CPU, {torch.profiler.ProfilerActivity.CUDA: set()}]
    assert activities_to_dl(filtered) == [
        torch.profiler.ProfilerActivity.CPU,
        {torch.profiler.ProfilerActivity.PrivateUse1: set()},
    ]


@pytest.mark.usefixtures("cuda")
@pytest.mark.parametrize("options", [{"use_cuda": True}, {"use_device": "cuda"}], ids=str)
def test_the_older_profiler_watches_dl(
    options: dict[str, Any], capfd: pytest.CaptureFixture[str]
) -> None:
    with torch.autograd.profiler.profile(**options) as profile:
        torch.ones(4, device="cuda").sum().item()
    assert profile.use_device == "dl"
    assert any("aten::sum" in row.key for row in profile.key_averages())
    assert "Failed to record CUDA event" not in capfd.readouterr().err


@pytest.mark.usefixtures("cuda")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_scripts_are_on_dl(tmp_path: Path) -> None:
    def helper(x: torch.Tensor) -> torch.Tensor:
        return x + torch.full((2,), 1.0, device="cuda:0")

    def function(x: torch.Tensor, there: torch.device) -> torch.Tensor:
        y = torch.zeros(2, device="cuda") + helper(x.to("cuda"))
        if x.is_cuda or not y.is_cuda:
            return torch.empty(0)
        y = y + torch.ones_like(y) + x.cuda() + torch.arange(2, device=there)
        return y.to(torch.device("cuda", 0)) + torch.tensor([1.0, 2.0], device=torch.device("cuda"))

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = nn.Linear(2, 2)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.inner(x) + torch.randn(2, device="cuda") * 0

    scripted = torch.jit.script(function)
    made = scripted(torch.ones(2), torch.device("cuda"))
    assert made.tolist() == [5, 7] and made.device.type == "dl"
    model = torch.jit.script(Model().cuda())
    x = torch.ones(2, device="cuda")
    assert model(x).device.type == "dl" and torch.equal(model(x), model.inner(x))
    model.save(str(tmp_path / "model.pt"))
    loaded = torch.jit.load(str(tmp_path / "model.pt"), map_location="cuda")
    assert torch.equal(loaded(x), model(x))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_scripts_made_on_cuda_are_loaded_to_dl(tmp_path: Path) -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return x.cuda() + torch.ones(2, device="cuda")

    torch.jit.save(torch.jit.script(function), str(tmp_path / "function.pt"))
    with mock_cuda.mocked():
        loaded = torch.jit.load(str(tmp_path / "function.pt"))
    assert loaded(torch.ones(2)).device.type == "dl"


@pytest.mark.parametrize(
    ("given", "registered", "expected"),
    [
        ("nccl", True, "dicl"),
        ("nccl", False, "gloo"),
        ("cpu:gloo,cuda:nccl", True, "cpu:gloo,dl:dicl"),
        ("gloo", True, "gloo"),
        (None, True, None),
    ],
)
def test_backends(
    given: str | None, registered: bool, expected: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dl_core.torch_backend.mock_cuda.names import backend_to_dl

    known = ["gloo", "dicl"] if registered else ["gloo"]
    monkeypatch.setattr(torch.distributed.Backend, "backend_list", known)
    assert backend_to_dl(given) == expected


@pytest.mark.usefixtures("cuda")
def test_a_process_group_for_nccl(tmp_path: Path) -> None:
    torch.distributed.init_process_group(
        "nccl", init_method=f"file://{tmp_path / 'store'}", rank=0, world_size=1
    )
    try:
        # gloo, used where dl has no communication of its own, is for host memory.
        own = "dicl" in torch.distributed.Backend.backend_list
        tensor = torch.ones(2, device="cuda" if own else "cpu")
        torch.distributed.all_reduce(tensor)
        assert tensor.tolist() == [1, 1]
    finally:
        torch.distributed.destroy_process_group()


@pytest.mark.usefixtures("cuda")
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:Dynamo does not know")
def test_compiled_functions() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return x.to("cuda") * 2 + torch.ones(2, device="cuda")

    torch._dynamo.reset()
    compiled = torch.compile(function, backend="aot_eager")
    assert compiled(torch.ones(2)).tolist() == [3, 3]
    assert compiled(torch.ones(2)).is_cuda

    def move(x: torch.Tensor) -> torch.Tensor:
        y = x.cuda() + x.cuda(0) + x.cuda("cuda:0", non_blocking=True)
        return y.cuda(torch.device("cuda"))

    result = torch.compile(move, backend="aot_eager", fullgraph=True)(torch.ones(2))
    assert result.tolist() == [3, 3] and result.is_cuda
    with pytest.raises(ValueError, match="expected a dl device, got cpu"):
        torch.ones(2).cuda("cpu")


def test_all_factories_of_torch_are_in_the_table() -> None:
    """Compared with torch's own list of functions that a default device affects."""
    listed = {
        getattr(owner_of(path), name)
        for path in ("torch", "torch.fft", "torch.nested")
        for name in table.TRANSLATED[path].split()
    }
    # Recomputed: while transformers creates a model, it replaces some of torch's functions.
    every = _device._device_constructors.__wrapped__()
    assert {f.__name__ for f in every if f not in listed} == set()


def attributes() -> dict[tuple[str, str], int]:
    """Return the identity of every attribute of torch's modules and their classes."""
    found: dict[tuple[str, str], int] = {}
    for module_name, module in list(sys.modules.items()):
        if module_name.partition(".")[0] != "torch" or not inspect.ismodule(module):
            continue
        for name, value in list(vars(module).items()):
            found[module_name, name] = id(value)
            if inspect.isclass(value) and str(value.__module__).startswith("torch"):
                for member, inner in list(vars(value).items()):
                    found[f"{module_name}.{name}", member] = id(inner)
    return found


def test_afterwards_every_attribute_is_what_it_was() -> None:
    with mock_cuda.mocked():  # torch imports some modules lazily
        torch.ones(1, device="cuda")
    before = attributes()
    with mock_cuda.mocked():
        assert attributes() != before
        torch.ones(1).cuda()
    assert attributes() == before
    assert ("torch.Tensor", "cuda") not in before  # inherited, as before
    with pytest.raises(AssertionError, match="CUDA"):
        torch.ones(1, device="cuda")


def test_what_was_first_compiled_within_compiles_afterwards() -> None:
    code = """
import torch
from dl_core.torch_backend import mock_cuda

def ones(x):
    return torch.zeros_like(x) + 1

with mock_cuda.mocked():
    compiled = torch.compile(ones, backend="eager", fullgraph=True)
    print(compiled(torch.ones(2, device="cuda")).tolist())
print(torch.compile(ones, backend="eager", fullgraph=True)(torch.ones(3)).tolist())
"""
    assert output(code).splitlines() == ["[1.0, 1.0]", "[1.0, 1.0, 1.0]"]


def test_an_error_within_ends_it_too() -> None:
    before = attributes()
    with pytest.raises(ZeroDivisionError), mock_cuda.mocked():
        raise ZeroDivisionError
    assert attributes() == before and not mock_cuda.is_on()


def test_it_nests() -> None:
    with mock_cuda.mocked():
        with mock_cuda.mocked():
            pass
        assert torch.ones(1).cuda().is_cuda
    assert not mock_cuda.is_on()
    with pytest.raises(RuntimeError, match=r"\[mock_cuda.stop\] CUDA is not mocked"):
        mock_cuda.stop()


def test_a_name_that_this_torch_lacks_replaces_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    before = attributes()
    monkeypatch.setitem(table.TRANSLATED, "torch.special", "no_such_function")
    with pytest.raises(RuntimeError, match=r"torch\.special .* no no_such_function"):
        mock_cuda.start()
    assert attributes() == before and not mock_cuda.is_on()
