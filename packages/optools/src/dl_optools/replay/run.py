"""Execution of a captured call on any device."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.autograd.graph import GradientEdge, get_gradient_edge

from dl_optools.bundle.placement import Placement
from dl_optools.bundle.reader import Bundle
from dl_optools.bundle.restore import default_dtype, make_synchronizer, random_state
from dl_optools.bundle.values import GeneratorRef, dtype_of, substitute
from dl_optools.names import Level
from dl_optools.tensors import tensors_of, versions


@dataclass
class Outcome:
    """Outcome of one run.

    :ivar result: what the operator returned; ``args`` and ``kwargs`` after the call.
    :ivar written: indices among the tensors of the arguments that it wrote to.
    :ivar results: distinct tensors of the result, then the inputs that the captured call wrote to.
    :ivar gradients: gradients of the inputs in order; None where none arrived. Empty without
        backward.
    :ivar forward: duration in seconds; ``backward`` too, nan without backward.
    """

    result: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    written: list[int]
    results: list[torch.Tensor]
    inputs: list[torch.Tensor]
    gradients: list[torch.Tensor | None] = field(default_factory=list)
    forward: float = float("nan")
    backward: float = float("nan")


def is_random(bundle: Bundle) -> bool:
    """Return True if the captured call drew random numbers."""
    found: list[Any] = list(bundle.document.rng)

    def note(leaf: Any) -> Any:
        if isinstance(leaf, GeneratorRef):
            found.append(leaf)
        return leaf

    substitute((bundle.document.args, bundle.document.kwargs), note)
    return bool(found)


def run(
    bundle: Bundle,
    device: torch.device | str = "cpu",
    *,
    backward: bool = True,
    synchronize: bool = True,
    within: Callable[[], AbstractContextManager[Any]] = contextlib.nullcontext,
) -> Outcome:
    """Call the operator with new copies of its arguments, and run its backward.

    The captured autocast, grad mode, default dtype and random state are set while it runs, and
    restored afterwards.

    :param backward: run the captured gradients of the results backward, if there are any.
    :param synchronize: wait for the device before a clock is read.
    :param within: entered for the call, and again for its backward.
    :raises BundleError: the arguments need another machine.
    """
    device = torch.device(device)
    document = bundle.document
    record = document.gradients if backward else None
    placed = Placement(bundle, device, gradients=document.level is Level.API)
    args, kwargs = placed.arguments()
    inputs = [placed.tensor(index) for index in document.inputs]
    arriving = [None] * len(document.results) if record is None else record.outputs
    incoming = [None if index is None else placed.tensor(index).detach() for index in arriving]
    edges: dict[int, GradientEdge] = {
        at: get_gradient_edge(x) for at, x in enumerate(inputs) if x.requires_grad
    }
    tensors = tensors_of(args, kwargs)
    before = versions(tensors)
    wait = make_synchronizer(device) if synchronize else _do_nothing
    with _settings(bundle, placed):
        wait()
        started = time.perf_counter()
        with within():
            result = bundle.function(*args, **kwargs)
        wait()
        forward = time.perf_counter() - started
    written = [
        at
        for at, (old, new) in enumerate(zip(before, versions(tensors), strict=True))
        if old != new
    ]
    results = list({id(x): x for x in tensors_of(result)}.values())
    # The same inputs, independent of what this device's operator wrote to.
    results += [inputs[x.same] for x in document.results[document.returned :] if x.same is not None]
    outcome = Outcome(result, args, kwargs, written, results, inputs, forward=forward)
    passing = [
        (x, gradient.to(x.dtype))
        for x, gradient in zip(results, incoming, strict=False)
        if gradient is not None
    ]
    if record is not None and passing and edges:
        wait()
        started = time.perf_counter()
        with within():
            found = torch.autograd.grad(
                [x for x, _ in passing],
                list(edges.values()),
                [gradient for _, gradient in passing],
                allow_unused=True,
            )
        wait()
        outcome.backward = time.perf_counter() - started
        by_input = dict(zip(edges, found, strict=True))
        outcome.gradients = [by_input.get(at) for at in range(len(inputs))]
    return outcome


@contextlib.contextmanager
def _settings(bundle: Bundle, placed: Placement) -> Iterator[None]:
    """Set the captured state of thread and generators."""
    context = bundle.document.context
    with contextlib.ExitStack() as stack:
        stack.enter_context(torch.set_grad_enabled(context["grad"]))
        stack.enter_context(default_dtype(dtype_of(context["default_dtype"], "context")))
        for name, dtype in context["autocast"].items():
            kind = placed.device(name).type
            stack.enter_context(torch.autocast(kind, dtype_of(dtype, "context")))
        for name, index in bundle.document.rng.items():
            kind = name.partition(":")[0]
            stack.enter_context(random_state(placed.device(name), kind, placed.state(index)))
        yield


def _do_nothing() -> None:
    pass


@dataclass(frozen=True)
class Times:
    """Seconds of each run, in order, without the warm-up run."""

    forward: list[float]
    backward: list[float]


def measure(
    bundle: Bundle,
    device: torch.device | str = "cpu",
    *,
    repeat: int = 10,
    backward: bool = True,
    synchronize: bool = True,
    warm_up: bool = True,
) -> Times:
    """Measure wall-clock times of ``repeat`` runs, by default after a warm-up run.

    Each run gets new copies of its arguments, which are not part of the time: in-place operators
    get the captured inputs.
    """
    outcomes = [
        run(bundle, device, backward=backward, synchronize=synchronize)
        for _ in range(repeat + warm_up)
    ][warm_up:]
    return Times(
        [outcome.forward for outcome in outcomes],
        [outcome.backward for outcome in outcomes if outcome.backward == outcome.backward],
    )
