"""Description of a tunable kernel: source, parameters, inputs and expected outputs."""

from __future__ import annotations

import hashlib
import runpy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diopi_proto.foreign_file import SOURCE_BYTES, read_regular_text
from diopi_proto.tolerance import OpClass

from .errors import KernelError, TuningError
from .spaces import Config, SearchSpace
from .spaces.markers import check_keys, find_markers
from .spaces.parameter import plain

Array = NDArray[Any]
Argument = Array | np.generic
Arguments = Mapping[str, Argument]
"""Arguments of one launch, in the order of the kernel's parameters: arrays and NumPy scalars."""
Shape = Mapping[str, int]
_DIMENSIONS = 3


@dataclass(frozen=True)
class Launch:
    """Grid and block of a launch, with up to three dimensions each.

    :raises KernelError: a field does not consist of integers.
    """

    grid: int | Sequence[int] = 1
    block: int | Sequence[int] = 1
    shared_bytes: int = 0

    def __post_init__(self) -> None:
        for name in ("grid", "block"):
            given = getattr(self, name)
            sizes = given if _is_list(given) else [given]
            if not 1 <= len(sizes) <= _DIMENSIONS or not all(map(_is_integer, sizes)):
                raise _wrong(f"{name} of a Launch", given, "an integer, or up to three")
        if not _is_integer(self.shared_bytes) or self.shared_bytes < 0:
            raise _wrong("shared_bytes of a Launch", self.shared_bytes, "a number of bytes")


@dataclass(frozen=True)
class Expected:
    """Expected value of an output.

    :ivar values: float64 values for the same inputs; integers for an integer output.
    :ivar op_class: tolerance class, see :class:`diopi_proto.tolerance.OpClass`.
    :ivar reduction_length: number of summed terms of an element.
    :ivar magnitude: sums of absolute values of the terms, for sums and matrix products.
    """

    values: Array
    op_class: OpClass = OpClass.ELEMENTARY
    reduction_length: int = 1
    magnitude: Array | None = None


@dataclass(frozen=True)
class TunableKernel:
    """A kernel with its search space and its reference.

    :ivar source: path of the source text, with a marker for each parameter
        (:mod:`dl_autotune.spaces.markers`).
    :ivar function: name of the exported function.
    :ivar default: configuration that candidates must beat.
    :ivar arguments: function that creates the arguments of a shape from a seeded generator,
        including outputs with arbitrary contents.
    :ivar outputs: names of the arguments that the kernel writes.
    :ivar reference: function that computes the expected outputs by name from the arguments.
    :ivar launch: function that computes the launch of a configuration from the shape.
    :ivar shape: shape that is timed.
    :ivar checks: additional shapes for which results are checked: odd and small shapes.
    :ivar options: compiler options, one word each.
    :raises KernelError: a field has the wrong type; the message names it.
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

    def __post_init__(self) -> None:
        if not isinstance(self.source, (str, Path)):
            raise _wrong("source", self.source, "the path of the kernel's text")
        object.__setattr__(self, "source", Path(self.source))
        if not isinstance(self.function, str) or not self.function:
            raise _wrong("function", self.function, "the name of what the source exports, a text")
        if not isinstance(self.space, SearchSpace):
            raise _wrong("space", self.space, "a SearchSpace")
        if not isinstance(self.default, Mapping):
            raise _wrong("default", self.default, "a mapping of each parameter to its value")
        object.__setattr__(self, "default", {n: plain(v) for n, v in self.default.items()})
        for name in ("arguments", "reference", "launch"):
            if not callable(getattr(self, name)):
                raise _wrong(name, getattr(self, name), "a function")
        for name, what in (("outputs", "names of arguments"), ("options", "words")):
            given = getattr(self, name)
            if not _is_list(given) or not all(isinstance(each, str) for each in given):
                raise _wrong(name, given, f"a list of {what}, each a text")
        object.__setattr__(self, "shape", _shape("shape", self.shape))
        if not _is_list(self.checks):
            raise _wrong("checks", self.checks, "a list of shapes, each a mapping as 'shape' is")
        object.__setattr__(self, "checks", [_shape("a shape of checks", s) for s in self.checks])

    def text(self) -> str:
        """Return the source text.

        :raises KernelError: it cannot be read.
        """
        try:
            return read_regular_text(self.source, SOURCE_BYTES)
        except (OSError, UnicodeDecodeError) as error:
            raise KernelError(f"[kernel] {self.source} cannot be read: {error}") from error

    def check(self) -> None:
        """Check that source, space and default are consistent, before compilation.

        :raises KernelError: the default is not valid, or no output is named.
        :raises MarkerError: markers and parameters differ.
        """
        check_keys(find_markers(self.text(), self.source.name), self.space.names, self.source.name)
        if self.space.point(self.default) is None:
            raise KernelError(
                f"[kernel] the default {dict(self.default)!r} is not a valid configuration of"
                " the space: give a valid one, because candidates have to beat it"
            )
        if not self.outputs:
            raise KernelError("[kernel] no output is named, so that no result could be judged")

    def identity(self) -> dict[str, Any]:
        """Return the kernel's part of the identity of comparable trials."""
        digest = hashlib.sha256(self.text().encode()).hexdigest()
        return {
            "kernel": self.source.name,
            "function": self.function,
            "source": digest,
            "shape": dict(self.shape),
            "options": list(self.options),
            "default": dict(self.default),
        }


def _shape(name: str, given: object) -> Shape:
    if not isinstance(given, Mapping) or not all(
        isinstance(key, str) and _is_integer(size) for key, size in given.items()
    ):
        raise _wrong(name, given, "a mapping of names to integers, such as {'m': 256}")
    return {key: int(size) for key, size in given.items()}


def _is_integer(given: object) -> bool:
    return isinstance(given, (int, np.integer)) and not isinstance(given, bool)


def _is_list(given: object) -> bool:
    return isinstance(given, (list, tuple))


def _wrong(field: str, given: object, due: str) -> KernelError:
    return KernelError(f"[kernel] {field} is {given!r}: it should be {due}")


def load_kernel(path: Path) -> TunableKernel:
    """Return the kernel that a Python file describes in its variable ``kernel``.

    :raises KernelError: the file fails, or has no such variable.
    :raises TuningError: an object of the file is invalid, such as a space without valid
    configurations.
    """
    try:
        found = runpy.run_path(str(path), run_name="dl_autotune_kernel").get("kernel")
    except TuningError:
        raise
    except SystemExit as error:
        raise KernelError(
            f"[kernel] {path} ends the process ({error!r}): it should only describe the kernel"
        ) from error
    except Exception as error:
        raise KernelError(f"[kernel] {path}: {type(error).__name__}: {error}") from error
    if not isinstance(found, TunableKernel):
        raise KernelError(
            f"[kernel] {path} has no variable 'kernel' that is a dl_autotune.TunableKernel"
        )
    found.check()
    return found
