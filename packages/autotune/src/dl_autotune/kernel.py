"""What a person writes of a kernel to have it tuned: source, parameters, inputs, what is right."""

from __future__ import annotations

import hashlib
import runpy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diopi_proto.tolerance import OpClass

from .errors import KernelError, TuningError
from .spaces import Config, SearchSpace
from .spaces.markers import check_keys, find_markers

Array = NDArray[Any]
Argument = Array | np.generic
Arguments = Mapping[str, Argument]
"""Of one launch, in the order of the kernel's parameters: arrays, and numpy scalars."""
Shape = Mapping[str, int]


@dataclass(frozen=True)
class Launch:
    """The grid of a launch, in up to three dimensions each."""

    grid: int | Sequence[int] = 1
    block: int | Sequence[int] = 1
    shared_bytes: int = 0


@dataclass(frozen=True)
class Expected:
    """What an output has to be.

    :ivar values: in float64, from the same inputs; as they are where the output is of integers.
    :ivar op_class: how the result may differ, see :class:`diopi_proto.tolerance.OpClass`.
    :ivar reduction_length: terms of the sum behind an element.
    :ivar magnitude: the sums of absolute values, for sums and products of matrices.
    """

    values: Array
    op_class: OpClass = OpClass.ELEMENTARY
    reduction_length: int = 1
    magnitude: Array | None = None


@dataclass(frozen=True)
class TunableKernel:
    """A kernel with its search space and its judge.

    :ivar source: the file of the kernel's text, with a marker for each parameter
        (:mod:`dl_autotune.spaces.markers`).
    :ivar function: what the source exports.
    :ivar default: the configuration that candidates have to beat.
    :ivar arguments: makes the arguments of a shape from a seeded generator; outputs too, whose
        contents do not matter.
    :ivar outputs: names of the arguments that the kernel writes.
    :ivar reference: what the outputs have to be, by name; gets the arguments.
    :ivar launch: the launch of a configuration, from the shape.
    :ivar shape: what is timed.
    :ivar checks: further shapes whose results are judged: odd ones, and small.
    :ivar options: of the compiler, one word each.
    """

    source: Path
    function: str
    space: SearchSpace
    default: Config
    arguments: Callable[[Shape, np.random.Generator], Arguments]
    outputs: Sequence[str]
    reference: Callable[[Arguments], Mapping[str, Expected]]
    launch: Callable[[Config, Shape], Launch]
    shape: Shape
    checks: Sequence[Shape] = ()
    options: Sequence[str] = ()

    def text(self) -> str:
        """The source.

        :raises KernelError: it cannot be read.
        """
        try:
            return self.source.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise KernelError(f"[kernel] {self.source} cannot be read: {error}") from error

    def check(self) -> None:
        """Whether source, space and default fit, before anything is compiled.

        :raises KernelError: the default is not valid, or no output is named.
        :raises MarkerError: markers and parameters differ.
        """
        check_keys(find_markers(self.text(), self.source.name), self.space.names, self.source.name)
        if self.space.point(self.default) is None:
            raise KernelError(
                f"[kernel] the default {dict(self.default)!r} is no valid configuration of the"
                " space: give one that is, since it is what candidates have to beat"
            )
        if not self.outputs:
            raise KernelError("[kernel] no output is named, so that no result could be judged")

    def identity(self) -> dict[str, Any]:
        """What makes trials comparable, as far as the kernel goes."""
        digest = hashlib.sha256(self.text().encode()).hexdigest()
        return {
            "kernel": self.source.name,
            "function": self.function,
            "source": digest,
            "shape": dict(self.shape),
            "options": list(self.options),
            "default": dict(self.default),
        }


def load_kernel(path: Path) -> TunableKernel:
    """The kernel that a Python file describes: its variable ``kernel``.

    :raises KernelError: the file fails, or has no such variable.
    :raises TuningError: what the file builds is refused, as a space without valid configurations.
    """
    try:
        found = runpy.run_path(str(path), run_name="dl_autotune_kernel").get("kernel")
    except TuningError:
        raise
    except Exception as error:
        raise KernelError(f"[kernel] {path}: {type(error).__name__}: {error}") from error
    if not isinstance(found, TunableKernel):
        raise KernelError(
            f"[kernel] {path} has no variable 'kernel' that is a dl_autotune.TunableKernel"
        )
    found.check()
    return found
