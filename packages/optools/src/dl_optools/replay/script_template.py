"""A captured call of an operator, run again with torch and safetensors only.

``python THIS_FILE`` runs the call on the device on which it was captured, ``python THIS_FILE
DEVICE`` on another device. Exit status: 0 if the call is right there, 1 if it is wrong, 2 if that
device is not available. The call is judged by the bound of ``dl replay --check`` if dl-optools is
installed, else by a comparison with the CPU within the square root of the dtype's epsilon.
"""

from __future__ import annotations

import argparse
import contextlib
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch.autograd.graph import get_gradient_edge

# In exported scripts the source of this module replaces the import.
from dl_optools.bundle.restore import (
    build_sparse,
    default_dtype,
    make_generator,
    make_synchronizer,
    random_state,
    view_bytes,
    with_bits,
    with_gradient,
)


def tensors_of(value: Any) -> list[torch.Tensor]:
    """Return the distinct tensors of a result."""
    if isinstance(value, torch.Tensor):
        return [value]
    if not isinstance(value, (list, tuple, dict)):
        return []
    inner = value.values() if isinstance(value, dict) else value
    return list({id(x): x for item in inner for x in tensors_of(item)}.values())


@dataclass
class Call:
    """Description of the call; tensors have the indices of the bundle.

    :ivar arguments: builds the positional and keyword arguments from a :class:`Tensors`.
    """

    operator: Callable[..., Any]
    captured_on: str
    tensors: dict[int, dict[str, Any]]
    arguments: Callable[[Any], tuple[tuple[Any, ...], dict[str, Any]]]
    inputs: list[int]
    results: list[int]
    written: list[int]
    incoming: list[int | None]
    gradients: list[int | None]
    rng: dict[str, int]
    grad: bool
    default_dtype: torch.dtype
    autocast: dict[str, torch.dtype]


class Tensors:
    """New copies of a call's tensors on a device; tensors that shared memory share it again."""

    def __init__(self, call: Call, memory: dict[str, torch.Tensor], device: torch.device) -> None:
        self.call, self.memory, self.target = call, memory, device
        self._storages: dict[tuple[int, str], torch.Tensor] = {}
        self._tensors: dict[int, torch.Tensor] = {}

    def __call__(self, index: int) -> torch.Tensor:
        if index not in self._tensors:
            known = self.call.tensors[index]
            tensor = self._plain(known)
            self._tensors[index] = (
                with_gradient(tensor, known["leaf"]) if known["requires_grad"] else tensor
            )
        return self._tensors[index]

    def device(self, name: str) -> torch.device:
        return self.target if name == self.call.captured_on else torch.device(name)

    def generator(self, name: str, seed: int, state: int) -> torch.Generator:
        return make_generator(self.device(name), name, seed, self(state).cpu())

    def _plain(self, known: dict[str, Any]) -> torch.Tensor:
        if "parts" in known:
            parts = [self(index) for index in known["parts"]]
            return build_sparse(known["layout"], parts, known["shape"], known["coalesced"])
        device = self.device(known["device"])
        key = (known["storage"], str(device))
        if key not in self._storages:
            flat = self.memory[f"storage{known['storage']}"]
            self._storages[key] = flat.to(device, copy=True)
        plain = view_bytes(self._storages[key], known["dtype"])
        plain = plain.as_strided(known["shape"], known["stride"], known["offset"])
        return with_bits(plain, known["conj"], known["neg"])


@dataclass
class Run:
    """Results, gradients of the inputs, and duration in seconds."""

    results: list[torch.Tensor]
    gradients: list[torch.Tensor | None]
    forward: float
    backward: float


def run(call: Call, memory: dict[str, torch.Tensor], device: torch.device) -> Run:
    """Call the operator once with new arguments, and run the captured gradients backward."""
    tensors = Tensors(call, memory, device)
    args, kwargs = call.arguments(tensors)
    inputs = [tensors(index) for index in call.inputs]
    edges = {at: get_gradient_edge(x) for at, x in enumerate(inputs) if x.requires_grad}
    wait = make_synchronizer(device)
    with contextlib.ExitStack() as settings:
        settings.enter_context(torch.set_grad_enabled(call.grad))
        settings.enter_context(default_dtype(call.default_dtype))
        for name, dtype in call.autocast.items():
            settings.enter_context(torch.autocast(tensors.device(name).type, dtype))
        for name, index in call.rng.items():
            kind = name.partition(":")[0]
            state = tensors(index).cpu()
            settings.enter_context(random_state(tensors.device(kind), kind, state))
        wait()
        started = time.perf_counter()
        result = call.operator(*args, **kwargs)
        wait()
        forward = time.perf_counter() - started
    results = tensors_of(result) + [inputs[at] for at in call.written]
    passing = [
        (result, tensors(index))
        for result, index in zip(results, call.incoming, strict=False)
        if index is not None
    ]
    if not passing or not edges:
        return Run(results, [], forward, float("nan"))
    wait()
    started = time.perf_counter()
    found = torch.autograd.grad(
        [x for x, _ in passing], list(edges.values()), [x for _, x in passing], allow_unused=True
    )
    wait()
    backward = time.perf_counter() - started
    by_input = dict(zip(edges, found, strict=True))
    return Run(results, [by_input.get(at) for at in range(len(inputs))], forward, backward)


def difference(got: torch.Tensor, want: torch.Tensor) -> str:
    """Describe the difference of two tensors."""
    kinds = [f"{x.dtype} {tuple(x.shape)}" for x in (got, want)]
    if kinds[0] != kinds[1]:
        return f"{kinds[0]} here, {kinds[1]} recorded"
    wide = torch.complex128 if got.is_complex() else torch.float64
    got, want = (
        (x if x.layout == torch.strided else x.to_dense()).detach().cpu().to(wide)
        for x in (got, want)
    )
    same = (got == want) | (got.isnan() & want.isnan())
    if same.all():
        return "the same as recorded"
    largest = (got - want).abs()[~same].max()
    return f"{int((~same).sum())} of {same.numel()} differ, by {float(largest):.3g} at most"


def is_far_off(got: torch.Tensor, want: torch.Tensor) -> bool:
    """Return True if a result differs by more than rounding explains, judged without dl-optools.

    Values may be off by the square root of their dtype's epsilon, relative to the largest value.
    """
    if (got.dtype, got.shape) != (want.dtype, want.shape):
        return True
    got, want = (
        (x if x.layout == torch.strided else x.to_dense()).detach().cpu() for x in (got, want)
    )
    if not (got.is_floating_point() or got.is_complex()):
        return not torch.equal(got, want)
    allowed = torch.finfo(got.dtype).eps ** 0.5
    wide = torch.complex128 if got.is_complex() else torch.float64
    got, want = got.to(wide), want.to(wide)
    same = (got == want) | (got.isnan() & want.isnan())
    largest = float(want.abs().nan_to_num(0.0, 0.0, 0.0).max()) if want.numel() else 0.0
    return not bool((same | ((got - want).abs() <= allowed * largest)).all())


def plain_verdict(
    call: Call, memory: dict[str, torch.Tensor], first: Run, device: torch.device
) -> tuple[list[str], str]:
    """Return what is wrong, and what it was compared with: the CPU, or the recording.

    Random operators, and calls captured on the CPU that run there, are compared with the recording.
    """
    recorded = Tensors(call, memory, torch.device("cpu"))
    want = Run([recorded(at) for at in call.results], [], 0.0, 0.0)
    want.gradients = [None if at is None else recorded(at) for at in call.gradients]
    against = "the recording"
    if not call.rng and {device.type, call.captured_on} != {"cpu"}:
        want, against = run(call, memory, torch.device("cpu")), "the CPU"
    wrong = [
        f"result {at}"
        for at, (x, y) in enumerate(zip(first.results, want.results, strict=False))
        if is_far_off(x, y)
    ]
    wrong += [
        f"gradient of input {at}"
        for at, (x, y) in enumerate(zip(first.gradients, want.gradients, strict=False))
        if x is not None and y is not None and is_far_off(x, y)
    ]
    return [
        f"{name}: differs from {against}" for name in wrong
    ], f"a plain comparison with {against}"


def verdict(
    call: Call, memory: dict[str, torch.Tensor], first: Run, device: torch.device, tensors: Path
) -> tuple[list[str], str]:
    """Return what is wrong on this device, and the judge: dl-optools if it is installed."""
    try:
        from dl_optools.replay.scripts import find_errors
    except ImportError:
        return plain_verdict(call, memory, first, device)
    return find_errors(tensors, device), "the rounding bound of dl replay --check"


def main(call: Call, script: str, bench: bool) -> None:
    """Run an exported script.

    :raises SystemExit: with 1 if the call is wrong, with 2 if the device is not available.
    """
    parser = argparse.ArgumentParser(
        description="Run a captured call of an operator again.",
        epilog="Exit status: 0 right, 1 wrong, 2 device not available. Without dl-optools a call "
        "is compared with the CPU, within the square root of the dtype's epsilon.",
    )
    parser.add_argument(
        "device", nargs="?", default=call.captured_on, help="device (default: %(default)s)"
    )
    parser.add_argument("--repeat", type=int, default=20)
    arguments = parser.parse_args()
    try:
        device = torch.device(arguments.device)
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        reason = str(error).partition("\n")[0]
        parser.error(f"{arguments.device} is not available, name another device: {reason}")
    tensors = Path(script).with_suffix(".safetensors")
    if not tensors.is_file():
        parser.error(f"{tensors} is not a file; it belongs to this script")
    memory = load_file(tensors)
    first = run(call, memory, device)
    if bench:
        runs = [run(call, memory, device) for _ in range(arguments.repeat)]
        for name in ("forward", "backward"):
            times = [getattr(x, name) * 1e6 for x in runs]
            if times[0] == times[0]:
                middle, least = statistics.median(times), min(times)
                sys.stdout.write(f"{name}: median {middle:.1f} us, minimum {least:.1f} us\n")
        return
    recorded = Tensors(call, memory, torch.device("cpu"))
    for at, (got, index) in enumerate(zip(first.results, call.results, strict=False)):
        sys.stdout.write(f"result {at}: {difference(got, recorded(index))}\n")
    for at, (gradient, known) in enumerate(zip(first.gradients, call.gradients, strict=False)):
        if gradient is not None and known is not None:
            text = difference(gradient, recorded(known))
            sys.stdout.write(f"gradient of input {at}: {text}\n")
    wrong, judge = verdict(call, memory, first, device, tensors)
    sys.stdout.write("".join(f"{line}\n" for line in wrong))
    sys.stdout.write(f"verdict: {'wrong' if wrong else 'right'} on {device}, by {judge}\n")
    if wrong:
        raise SystemExit(1)
