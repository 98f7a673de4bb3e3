"""Table of the attributes that are replaced while ``cuda`` means ``dl``. Add new names here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch

from dl_core.torch_backend.mock_cuda import names, profiling, scripting, tensors
from dl_core.torch_backend.mock_cuda.cuda_module import cuda_module
from dl_core.torch_backend.mock_cuda.replacing import Replacements, owner_of, translate_calls
from dl_core.torch_backend.mock_cuda.stand_ins import stand_in

Row = tuple[Any, str, Any]

FACTORIES = """
    arange as_tensor asarray bartlett_window blackman_window empty empty_permuted empty_quantized
    empty_strided eye full hamming_window hann_window kaiser_window linspace logspace ones rand
    randint randn randperm range scalar_tensor sparse_bsc_tensor sparse_bsr_tensor
    sparse_compressed_tensor sparse_coo_tensor sparse_csc_tensor sparse_csr_tensor tensor
    tril_indices triu_indices zeros
    empty_like full_like ones_like rand_like randint_like randn_like zeros_like
    frombuffer from_file normal
"""

TRANSLATED: dict[str, str] = {
    "torch": f"""{FACTORIES}
        set_default_device get_device_module
        get_autocast_dtype set_autocast_dtype is_autocast_enabled set_autocast_enabled
    """,
    "torch.fft": "fftfreq rfftfreq",
    "torch.nested": "nested_tensor as_nested_tensor",
    "torch.Tensor": """
        to type new_empty new_empty_strided new_full new_ones new_tensor new_zeros
        pin_memory is_pinned
    """,
    "torch._C._nn": "_parse_to",
    "torch._utils": "_get_device_index",
    "torch.amp": "custom_fwd custom_bwd is_autocast_available",
    "torch.amp.autocast_mode": "custom_fwd custom_bwd is_autocast_available",
    "torch.amp.autocast_mode.autocast": "__init__",
    "torch.amp.grad_scaler.GradScaler": "__init__",
    "torch.autograd.graph.save_on_cpu": "__init__",
    "torch.random": "fork_rng",
    "torch.serialization": "default_restore_location",
    "torch.storage.UntypedStorage": "pin_memory is_pinned",
    "torch.storage.TypedStorage": "pin_memory is_pinned",
    "torch.utils.checkpoint.DefaultDeviceType": "set_device_type",
    "torch.utils.data.dataloader.DataLoader": "__init__",
    "torch.distributed.device_mesh": "init_device_mesh",
    "torch.distributed.device_mesh.DeviceMesh": "__init__",
    "torch.distributed": "init_device_mesh",
}
"""Functions by their owner: arguments and defaults that name a CUDA device are translated."""

TRANSLATED_OTHERWISE: tuple[tuple[str, str, Callable[[Any], Any], int], ...] = (
    # The first argument of these functions is a file, which is not translated.
    ("torch", "load", names.location_to_dl, 1),
    ("torch.serialization", "load", names.location_to_dl, 1),
    ("torch.profiler.profiler._KinetoProfile", "__init__", profiling.activities_to_dl, 1),
    ("torch.profiler.profiler.profile", "__init__", profiling.activities_to_dl, 1),
    ("torch.distributed", "init_process_group", names.backend_to_dl, 0),
    ("torch.distributed.distributed_c10d", "init_process_group", names.backend_to_dl, 0),
    ("torch.distributed", "new_group", names.backend_to_dl, 0),
    ("torch.distributed.distributed_c10d", "new_group", names.backend_to_dl, 0),
)
"""Functions with a special translation: owner, name, translation, number of arguments to keep."""

STAND_INS = ("device", "Generator", "Stream", "Event")
"""Classes of torch that take a device argument."""

GIVEN: tuple[tuple[str, str, Any], ...] = (
    ("torch", "set_default_tensor_type", tensors.set_default_tensor_type),
    ("torch.jit", "load", scripting.load),
    ("torch.jit", "script", scripting.script),
    ("torch.jit._script", "script", scripting.script),
    ("torch.autograd.profiler.profile", "__init__", profiling.init_profile),
    ("torch.autograd.profiler.emit_nvtx", "__enter__", profiling.enter_nvtx),
    ("torch.autograd.profiler.emit_nvtx", "__exit__", profiling.exit_nvtx),
    ("torch.Tensor", "cuda", tensors.tensor_to_dl),
    ("torch.Tensor", "is_cuda", tensors.is_on_dl),
    ("torch.storage.UntypedStorage", "cuda", tensors.storage_to_dl),
    ("torch.storage.UntypedStorage", "is_cuda", tensors.is_on_dl),
    ("torch.storage.TypedStorage", "cuda", tensors.storage_to_dl),
    ("torch.storage.TypedStorage", "is_cuda", tensors.is_on_dl),
    ("torch.nn.utils.rnn.PackedSequence", "is_cuda", property(lambda self: self.data.is_cuda)),
    ("torch.distributed", "is_nccl_available", lambda: True),
)
"""Attributes with a replacement of our own. Attributes that tell torch whether its C++ part has
CUDA stay unchanged: ``torch.backends.cuda.is_built``, ``is_nccl_available`` of
distributed_c10d."""


def replacements() -> Replacements:
    """Return all replacements for this torch.

    :raises RuntimeError: this torch lacks one of the names.
    """
    _warm()
    rows = [*_rows(), *cuda_module()]
    replaced = [(getattr(owner, name, None), value) for owner, name, value in rows]
    return Replacements(rows, [scripting.Builtins(replaced)])


def _rows() -> Iterator[Row]:
    for path, listed in TRANSLATED.items():
        owner = owner_of(path)
        for name in listed.split():
            yield owner, name, translate_calls(_existing(owner, name, path), names.to_dl)
    for path, name, translate, keep in TRANSLATED_OTHERWISE:
        owner = owner_of(path)
        yield owner, name, translate_calls(_existing(owner, name, path), translate, keep)
    for name in STAND_INS:
        yield torch, name, stand_in(getattr(torch, name), names.to_dl)
    for path, name, value in GIVEN:
        owner = owner_of(path)
        _existing(owner, name, path)
        yield owner, name, value


def _existing(owner: Any, name: str, path: str) -> Any:
    found = getattr(owner, name, None)
    if found is None:
        raise RuntimeError(f"[mock_cuda] {path} of this torch has no {name}")
    return found


def _warm() -> None:
    """Make torch cache its lists of its own functions and classes before they are
    replaced."""
    from torch import _weights_only_unpickler
    from torch.utils import _device

    _device._device_constructors()
    _weights_only_unpickler._get_allowed_globals()
