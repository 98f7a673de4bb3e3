"""Every public name of torch.cuda and its modules works while CUDA is mocked, or its error says why
not.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch

from dl_core.torch_backend import mock_cuda

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning")


@pytest.fixture(autouse=True)
def _cuda() -> Iterator[None]:
    with mock_cuda.mocked():
        yield


def public_functions() -> Iterator[tuple[str, Any]]:
    """Yield the public functions and classes of torch.cuda and its modules by their full names."""
    parts = [each.name for each in pkgutil.iter_modules(torch.cuda.__path__)]
    modules = [importlib.import_module(f"torch.cuda.{n}") for n in parts if n[0] != "_"]
    for module in (torch.cuda, *modules):
        for name in getattr(module, "__all__", None) or dir(module):
            value = getattr(module, name)
            home = str(getattr(value, "__module__", ""))
            if name[0] != "_" and callable(value) and home.startswith(("torch.cuda", "dl_core")):
                yield f"{module.__name__}.{name}", value


def takes_nothing(function: Any) -> bool:
    """Return True if a function can be called without arguments."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:  # implemented in torch's C++ extension
        return False
    return all(
        p.default is not p.empty or p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters
    )


def test_what_takes_no_arguments_works_or_is_refused() -> None:
    called, refused, wrong = 0, 0, []
    for name, function in public_functions():
        if not takes_nothing(function):
            continue
        try:
            function()
            called += 1
        except NotImplementedError as error:
            refused += 1
            if "CUDA is mocked by dl" not in str(error):
                wrong.append(f"{name}: {error}")
        except (AttributeError, RuntimeError, TypeError, ValueError) as error:
            wrong.append(f"{name}: {type(error).__name__}: {error}")
    assert not wrong
    assert called > 60 and refused > 30


REFUSED: dict[str, Callable[[], Any]] = {
    "nccl.all_reduce": lambda: torch.cuda.nccl.all_reduce([torch.ones(2, device="cuda")]),
    "nccl.unique_id": lambda: torch.cuda.nccl.unique_id(),
    "tunable.enable": lambda: torch.cuda.tunable.enable(),
    "tunable.set_filename": lambda: torch.cuda.tunable.set_filename("results.csv"),
    "gds.GdsFile": lambda: torch.cuda.gds.GdsFile("file", 0),
    "sparse.FloatTensor": lambda: torch.cuda.sparse.FloatTensor(2, 2),
    "CUDAGraph": lambda: torch.cuda.graphs.CUDAGraph(),
    "graph": lambda: torch.cuda.graphs.graph(None),
    "GreenContext": lambda: torch.cuda.green_contexts.GreenContext(),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_needs_a_library_of_cuda_is_refused(name: str) -> None:
    with pytest.raises(NotImplementedError, match=rf"\[torch\.cuda\.{name}\] CUDA is mocked by dl"):
        REFUSED[name]()


def test_nothing_is_captured() -> None:
    assert torch.cuda.graphs.is_current_stream_capturing() is False


def test_properties_have_the_name_that_inductor_reads() -> None:
    properties = torch.cuda.get_device_properties(0)
    assert properties.gcnArchName == properties.architecture
