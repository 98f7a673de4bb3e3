"""Round trips of dl tensors: files, copies, other libraries."""

from __future__ import annotations

import copy
import io
import pickle
from collections.abc import Callable
from typing import Any

import torch
from torch.utils.dlpack import from_dlpack

from diopi_proto.tolerance.torch_operators.comparison import same_values, to_host

from ..opinfo.operators import Judgement, full_name
from ..opinfo.relocate import Relocation
from ..opinfo.sweep import Outcome as Held
from ..opinfo.sweep import Report, aliases, move, run, samples_of, tensors_of
from .case import SAMPLES
from .layouts import plain

Travel = Callable[[list[torch.Tensor], str], str | None]
"""Send tensors on a round trip; return what is wrong with the returned ones, or None."""


def check_travel(travel: Travel, op: Any, dtype: torch.dtype, device: str) -> Report:
    """Check a round trip of the arguments and results of samples."""
    report = Report(f"{full_name(op)} {dtype}")
    for at, original in enumerate(samples_of(op, dtype, SAMPLES)):
        if run(plain(op), Relocation()(original)).error is not None:
            continue
        outcome = run(plain(op), move(original, Judgement.of(op), device))
        if outcome.error is not None:
            report.add(at, original, f"raises {type(outcome.error).__name__}: {outcome.error}")
            continue
        tensors = [each.detach() for each in tensors_of((outcome.result, outcome.arguments))]
        on_device = [each for each in tensors if each.device.type == torch.device(device).type]
        report.samples += 1
        report.add(at, original, travel(on_device, device))
    return report


def difference(
    back: list[torch.Tensor], sent: list[torch.Tensor], device: str, *, strides: bool = True
) -> str | None:
    """Return what differs between tensors and those that were sent, or None."""
    if len(back) != len(sent):
        return f"{len(back)} tensors came back of {len(sent)}"
    for at, (have, want) in enumerate(zip(back, sent, strict=True)):
        pairs: list[tuple[str, Any, Any]] = [
            ("device", have.device.type, torch.device(device).type),
            ("dtype", have.dtype, want.dtype),
            ("shape", tuple(have.shape), tuple(want.shape)),
            ("layout", have.layout, want.layout),
        ]
        if strides and want.layout == have.layout == torch.strided and want.numel():
            pairs.append(("strides", have.stride(), want.stride()))
        for name, got, wanted in pairs:
            if got != wanted:
                return f"tensor {at}: {name} is {got}, want {wanted}"
        if not same_values(to_host(have), to_host(want)):
            return f"tensor {at}: other values came back"
    return None


def saved_and_loaded(tree: Any, place: str | None = None) -> Any:
    """Return the tree after torch.save and torch.load."""
    held = io.BytesIO()
    torch.save(tree, held)
    held.seek(0)
    return torch.load(held, map_location=place, weights_only=True)


def save(sent: list[torch.Tensor], device: str) -> str | None:
    """Save and load on the device, from it to the CPU, and from the CPU to it."""
    back = saved_and_loaded(sent)
    problem = difference(back, sent, device)
    if problem is None and _shared(back) != _shared(sent):
        problem = f"tensors share memory as {_shared(back)}, want {_shared(sent)}"
    if problem is not None:
        return f"loaded: {problem}"
    on_cpu = saved_and_loaded(sent, "cpu")
    problem = difference(on_cpu, sent, "cpu")
    if problem is not None:
        return f"loaded to the CPU: {problem}"
    problem = difference(saved_and_loaded(on_cpu, device), sent, device)
    return problem and f"loaded from the CPU: {problem}"


def _shared(tensors: list[torch.Tensor]) -> list[tuple[str, int, int] | None]:
    return aliases(Held((None, (), {}), result=list(filter(_has_memory, tensors))))


def copies(sent: list[torch.Tensor], device: str) -> str | None:
    """Copy by copy.deepcopy and by pickle, each with memory of its own."""
    ways = {"deepcopy": copy.deepcopy, "pickle": lambda tree: pickle.loads(pickle.dumps(tree))}
    for name, way in ways.items():
        if not _works(way, [each.cpu() for each in sent]):
            continue
        back = way(sent)
        problem = difference(back, sent, device)
        if problem is not None:
            return f"{name}: {problem}"
        owned = {each.untyped_storage().data_ptr() for each in sent if _has_memory(each)}
        if any(each.untyped_storage().data_ptr() in owned for each in back if _has_memory(each)):
            return f"{name}: the copy shares memory with the original"
    return None


def _works(way: Callable[[list[torch.Tensor]], object], tensors: list[torch.Tensor]) -> bool:
    """Return True if ``way`` works on the CPU. torch cannot pickle complex32, for example."""
    try:
        way(tensors)
    except Exception:  # noqa: BLE001 - whatever torch raises on the CPU, dl may raise too
        return False
    return True


def _has_memory(tensor: torch.Tensor) -> bool:
    return tensor.layout == torch.strided and tensor.untyped_storage().nbytes() > 0


def dlpack(sent: list[torch.Tensor], device: str) -> str | None:
    """Convert to a DLPack capsule and back: the memory is shared."""
    for at, tensor in enumerate(sent):
        if tensor.layout != torch.strided or tensor.is_conj() or tensor.is_neg():
            continue
        back = from_dlpack(tensor)
        problem = difference([back], [tensor], device, strides=False)
        if problem is None and tensor.numel() and back.data_ptr() != tensor.data_ptr():
            problem = "tensor came back in other memory"
        if problem is not None:
            return f"{at}: {problem}"
    return None
