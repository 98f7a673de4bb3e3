"""Check of a candidate's results on difficult inputs, before it is timed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diopi_proto.tolerance import OpClass, compare

from ..errors import KernelError
from ..kernel import Arguments, Expected, Launch, Shape, TunableKernel
from ..spaces import Config
from ..toolchains import Buffer, Toolchain
from .description import called, launch_of, shortly

_EDGES = (0.0, -0.0, 1.0, -1.0, 1e-30, -1e-40)
"""Edge values scattered over inputs: zeros of both signs, ones, tiny and subnormal float32
values.
"""
Launcher = Callable[..., None]


class WrongResultError(Exception):
    """A candidate is wrong; the message says where."""


def seeded_arguments(kernel: TunableKernel, shape: Shape, seed: int) -> dict[str, Any]:
    """Create the arguments of a shape, deterministically for a seed.

    :raises KernelError: the kernel's description fails, or returns values other than arrays and
    scalars.
    """
    given = called(
        f"arguments of {dict(shape)}", kernel.arguments, shape, np.random.default_rng(seed)
    )
    if not isinstance(given, Mapping):
        raise KernelError(
            f"[kernel] arguments of {dict(shape)} gives {shortly(given)}: it should give a mapping"
            " of names to numpy arrays and scalars"
        )
    made = dict(given)
    for name, value in made.items():
        if not isinstance(value, (np.ndarray, np.generic)):
            raise KernelError(
                f"[kernel] argument {name} is {shortly(value)}; it must be a numpy array or scalar"
            )
    for name in kernel.outputs:
        if not isinstance(made.get(name), np.ndarray):
            raise KernelError(f"[kernel] output {name} is not an array among {', '.join(made)}")
    return made


def with_edges(kernel: TunableKernel, arguments: Arguments, seed: int) -> dict[str, Any]:
    """Return the arguments with edge values in a tenth of each floating-point input."""
    rng = np.random.default_rng(seed)
    changed: dict[str, Any] = {}
    for name, value in arguments.items():
        if isinstance(value, np.ndarray) and value.dtype.kind == "f" and name not in kernel.outputs:
            where = rng.random(value.shape) < 0.1
            with np.errstate(under="ignore"):
                edges = np.array(_EDGES, dtype=value.dtype)
            value = np.where(where, rng.choice(edges, value.shape), value)
        changed[name] = value
    return changed


def check_results(
    kernel: TunableKernel, toolchain: Toolchain, launcher: Launcher, config: Config, seed: int
) -> None:
    """Run a candidate on all shapes, once with edge values, and check its writes.

    :raises WrongResultError: an output differs by more than rounding, or an input or memory around
        an array was written to.
    """
    for number, shape in enumerate((*kernel.checks, kernel.shape)):
        arguments = seeded_arguments(kernel, shape, seed + number)
        sets = [arguments]
        if number < len(kernel.checks):
            sets.append(with_edges(kernel, arguments, seed + number))
        for given in sets:
            _check(kernel, toolchain, launcher, launch_of(kernel, config, shape), given, shape)


def check_again(
    kernel: TunableKernel, toolchain: Toolchain, launcher: Launcher, config: Config, seed: int
) -> None:
    """Check a candidate again after timing, because its results may have changed.

    :raises WrongResultError: as :func:`check_results`.
    """
    arguments = seeded_arguments(kernel, kernel.shape, seed)
    launch = launch_of(kernel, config, kernel.shape)
    try:
        _check(kernel, toolchain, launcher, launch, arguments, kernel.shape)
    except WrongResultError as error:
        raise WrongResultError(f"right at first, and after it was timed: {error}") from error


def _check(
    kernel: TunableKernel,
    toolchain: Toolchain,
    launcher: Launcher,
    launch: Launch,
    arguments: Arguments,
    shape: Shape,
) -> None:
    expected = _expected(kernel, arguments)
    buffers = {
        name: toolchain.buffer(_unwritten(value) if name in kernel.outputs else value)
        for name, value in arguments.items()
        if isinstance(value, np.ndarray)
    }
    launcher(launch, [buffers.get(name, value) for name, value in arguments.items()])
    where = ", ".join(f"{name}={size}" for name, size in shape.items())
    for name, buffer in buffers.items():
        if not buffer.intact():
            raise WrongResultError(f"writes outside of {name} ({where})")
        if name in expected:
            _judge(name, buffer, expected[name], where)
        elif buffer.read().tobytes() != np.ascontiguousarray(arguments[name]).tobytes():
            raise WrongResultError(f"changes its input {name} ({where})")


def _expected(kernel: TunableKernel, arguments: Arguments) -> Mapping[str, Expected]:
    given = {name: _unwritable(value) for name, value in arguments.items()}
    found = called("the reference", kernel.reference, given)
    if not isinstance(found, Mapping):
        raise KernelError(
            f"[kernel] the reference gives {shortly(found)}: it should give a mapping of the"
            " outputs' names to Expected values"
        )
    if set(found) != set(kernel.outputs):
        raise KernelError(
            f"[kernel] the reference gives {', '.join(found) or 'nothing'}, and the outputs are"
            f" {', '.join(kernel.outputs)}"
        )
    for name, value in found.items():
        if not isinstance(value, Expected):
            raise KernelError(
                f"[kernel] the reference gives {shortly(value)} for {name}: it should give an"
                " Expected"
            )
    return found


def _unwritable(value: Any) -> Any:
    """Return a copy that the receiver cannot change: the kernel gets the original values.

    Torch writes even to read-only arrays.
    """
    if not isinstance(value, np.ndarray):
        return value
    copy = value.copy(order="K")
    copy.flags.writeable = False
    return copy


def _unwritten(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array of the same shape and dtype that is filled with garbage."""
    if array.dtype.kind == "f":
        return np.full_like(array, np.nan)
    return np.full_like(array, 85)


def _judge(name: str, buffer: Buffer, expected: Expected, where: str) -> None:
    actual = buffer.read()
    outcome = compare(
        actual,
        expected.values,
        dtype=actual.dtype,
        op_class=expected.op_class,
        reduction_length=expected.reduction_length,
        magnitude=expected.magnitude
        if expected.op_class in (OpClass.REDUCTION, OpClass.MATMUL)
        else None,
    )
    if not outcome.ok:
        raise WrongResultError(outcome.report(f"{name} is wrong ({where})"))
