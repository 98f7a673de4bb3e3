"""DeepSpeed's accelerator interface for dl, which ``import deepspeed`` selects.

DeepSpeed's own operators are extensions in CUDA C++ that dl cannot run; training needs none of
them with ``"torch_adam": true`` or an optimizer of torch.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

import torch

from dl_integrations.device import DEVICE, dl
from dl_integrations.wrappers.accelerate_processes import BACKEND

_CHOICE = "DS_ACCELERATOR"
"""Variable with which a user selects another accelerator."""
_FUNCTIONS = (
    *("current_device", "device_count", "set_device", "synchronize", "is_available"),
    *("get_rng_state", "set_rng_state", "manual_seed", "manual_seed_all", "initial_seed"),
    *("stream", "current_stream", "default_stream", "is_current_stream_capturing"),
    *("empty_cache", "memory_allocated", "max_memory_allocated", "reset_max_memory_allocated"),
    *("memory_cached", "max_memory_cached", "reset_max_memory_cached", "memory_stats"),
    *("reset_peak_memory_stats", "memory_reserved", "max_memory_reserved", "is_bf16_supported"),
)
"""Methods of the interface that are functions of ``torch.dl``."""
_CLASSES = (
    *("Stream", "Event", "BFloat16Tensor", "ByteTensor", "DoubleTensor", "FloatTensor"),
    *("HalfTensor", "IntTensor", "LongTensor"),
)
"""Properties of the interface that are classes of ``torch.dl``."""


def register() -> None:
    """Select dl, unless the user has chosen an accelerator."""
    if _CHOICE not in os.environ:
        import_module("deepspeed.accelerator.real_accelerator").set_accelerator(accelerator()())


class RefusedBuilder:
    """Builder of an operator that DeepSpeed has for CUDA only.

    :ivar name: name of DeepSpeed's builder; ``NAME`` is the same.
    """

    name = NAME = ""

    def is_compatible(self, verbose: bool = False) -> bool:
        """Return False: the operator is not built."""
        return False

    def load(self, verbose: bool = True) -> Any:
        """
        :raises RuntimeError: always; the message has a replacement.
        """
        raise RuntimeError(
            f"[dl] DeepSpeed's operator {self.name.removesuffix('Builder')} is an extension in CUDA"
            ' C++, which dl devices cannot run; use an optimizer of torch, as with "torch_adam": '
            "true in the optimizer's parameters, and no offloading"
        )


@cache
def accelerator() -> type:
    """Return the class of the accelerator, a subclass of DeepSpeed's interface."""
    interface = import_module("deepspeed.accelerator.abstract_accelerator").DeepSpeedAccelerator
    members: dict[str, Any] = {name: _function(name) for name in _FUNCTIONS}
    members |= {name: _class(name) for name in _CLASSES}
    members |= {name: value for name, value in vars(_Own).items() if not name.startswith("__")}
    return type("DLAccelerator", (interface,), {**members, "__init__": _initialize})


def _function(name: str) -> Callable[..., Any]:
    def call(_: Any, *arguments: Any, **named: Any) -> Any:
        return getattr(dl(), name)(*arguments, **named)

    return call


def _class(name: str) -> property:
    return property(lambda _: getattr(dl(), name))


def _initialize(self: Any) -> None:
    self._name = DEVICE
    self._communication_backend_name = BACKEND
    self._compile_backend = DEVICE


class _Own:
    """Methods of the interface that ``torch.dl`` does not have."""

    _compile_backend: str

    def is_synchronized_device(self) -> bool:
        return False

    use_host_timers = resolves_data_dependency = handles_memory_backpressure = (
        is_synchronized_device
    )

    def device_name(self, device_index: int | None = None) -> str:
        return DEVICE if device_index is None else f"{DEVICE}:{device_index}"

    def device(self, device_index: int | None = None) -> Any:
        return dl().device(device_index)

    def current_device_name(self) -> str:
        return f"{DEVICE}:{dl().current_device()}"

    def random(self) -> Any:
        return torch.random

    def default_generator(self, device_index: int) -> torch.Generator:
        generator: torch.Generator = dl().default_generators[device_index]
        return generator

    def total_memory(self, device_index: int | None = None) -> int:
        return int(dl().mem_get_info(device_index)[1])

    def available_memory(self, device_index: int | None = None) -> int:
        return int(dl().mem_get_info(device_index)[0])

    def is_fp16_supported(self) -> bool:
        return True

    def supported_dtypes(self) -> list[torch.dtype]:
        return [torch.float32, torch.float16, torch.bfloat16]

    def range_push(self, msg: str, domain: Any = None, category: Any = None) -> None:
        """Do nothing: profilers read ranges of torch."""

    def range_pop(self, domain: Any = None) -> None:
        """See :meth:`range_push`."""

    def lazy_call(self, callback: Callable[[], Any]) -> Any:
        return callback()

    def communication_backend_name(self) -> str:
        return BACKEND

    def is_triton_supported(self) -> bool:
        return False

    def create_graph(self) -> Any:
        raise RuntimeError(
            "[dl] DeepSpeed's capture of graphs is written for CUDA; use "
            'torch.compile(model, backend="dl", options={"engine": "capture"})'
        )

    capture_to_graph = replay_graph = lambda self, *_, **__: self.create_graph()

    def on_accelerator(self, tensor: torch.Tensor) -> bool:
        return tensor.device.type == DEVICE

    def op_builder_dir(self) -> str:
        return "deepspeed.ops.op_builder"

    def get_op_builder(self, class_name: str) -> type[RefusedBuilder]:
        return type(class_name, (RefusedBuilder,), {"name": class_name, "NAME": class_name})

    def create_op_builder(self, class_name: str) -> RefusedBuilder:
        return self.get_op_builder(class_name)()

    def build_extension(self) -> Any:
        from torch.utils.cpp_extension import BuildExtension

        return BuildExtension

    def export_envs(self) -> list[str]:
        return ["DL_", "LD_LIBRARY", "PATH"]

    def visible_devices_envs(self) -> list[str]:
        return []

    def set_visible_devices_envs(self, current_env: Any, local_accelerator_ids: Any) -> None:
        """Do nothing: all processes see all devices, and DeepSpeed chooses one by its rank."""

    def get_compile_backend(self) -> str:
        return self._compile_backend

    def set_compile_backend(self, backend: str) -> None:
        self._compile_backend = backend
