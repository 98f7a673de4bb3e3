"""Arguments of operators as JSON, and back.

Plain JSON stands for None, bool, int, finite float, str and list. Everything else is an object with
one key: ``{"tuple": [...]}``, ``{"dict": [[key, value], ...]}``, ``{"size": [...]}``,
``{"slice": [start, stop, step]}``, ``{"ellipsis": true}``, ``{"float": "nan"}``,
``{"complex": [re, im]}``, ``{"dtype": "float32"}``, ``{"layout": "strided"}``,
``{"memory_format": "channels_last"}``, ``{"qscheme": ...}``, ``{"device": "dl:0"}``,
``{"generator": {...}}``, ``{"tensor": 3}`` (an index into the bundle's table of tensors) and, for
named tuples and structures of ``torch.return_types``, ``{"named": [type, items]}``.

Values that depend on the machine are decoded as references, which :func:`substitute` replaces.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from dl_optools.bundle.errors import BundleError, NotStorableError
from dl_optools.bundle.fields import Fields, below, count

DEPTH = 32
"""Maximum nesting depth of arguments."""
_LARGEST = 1 << 128
_DEVICE = re.compile(r"[a-z][a-z0-9_]{0,31}(:\d{1,4})?", re.ASCII)
_NAME = re.compile(r"\w+", re.ASCII)
_TORCH = {
    "dtype": torch.dtype,
    "layout": torch.layout,
    "memory_format": torch.memory_format,
    "qscheme": torch.qscheme,
}
_SPECIAL = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


@dataclass(frozen=True)
class TensorRef:
    """A tensor of the bundle's table."""

    index: int


@dataclass(frozen=True)
class DeviceRef:
    """A device of the machine that captured the call: ``dl:0``."""

    name: str

    @property
    def type(self) -> str:
        return self.name.partition(":")[0]


@dataclass(frozen=True)
class GeneratorRef:
    """A random number generator: its device, its seed and, as a tensor of bytes, its state."""

    device: DeviceRef
    seed: int
    state: int


@dataclass(frozen=True)
class Named:
    """A named tuple or a ``torch.return_types`` structure: the name of its type, and its items."""

    name: str
    items: tuple[Any, ...]


# To JSON


class Table:
    """Assigns an index to each distinct tensor in encoded arguments, in the order of encoding.

    :param start: index of the first tensor.
    :ivar tensors: all tensors, including states of generators; ``own`` excludes these.
    """

    def __init__(self, start: int = 0) -> None:
        self.start = start
        self.tensors: list[torch.Tensor] = []
        self.own: list[torch.Tensor] = []
        self._positions: dict[int, int] = {}

    def add(self, tensor: torch.Tensor) -> int:
        position = self.position(tensor)
        if position is None:
            position = self._positions[id(tensor)] = len(self.tensors)
            self.tensors.append(tensor)
            self.own.append(tensor)
        return self.start + position

    def add_state(self, state: torch.Tensor) -> int:
        self.tensors.append(state)
        return self.start + len(self.tensors) - 1

    def position(self, tensor: torch.Tensor) -> int | None:
        """Return the index of a tensor in ``tensors``."""
        return self._positions.get(id(tensor))


def encode(value: Any, table: Table, depth: int = 0) -> Any:
    """Encode an argument as JSON; its tensors are added to the table.

    :raises NotStorableError: a bundle cannot store a value of this type.
    """
    if depth > DEPTH:
        raise NotStorableError(f"arguments nest deeper than {DEPTH}")

    def inner(values: Any) -> list[Any]:
        return [encode(x, table, depth + 1) for x in values]

    if isinstance(value, torch.Tensor):
        return {"tensor": table.add(value)}
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, (int, torch.SymInt)):
        return _encode_int(int(value))
    if isinstance(value, float):
        return _encode_float(float(value))
    if isinstance(value, complex):
        return {"complex": [_encode_float(value.real), _encode_float(value.imag)]}
    if isinstance(value, torch.Size):
        return {"size": [int(x) for x in value]}
    if isinstance(value, tuple):
        if type(value) is tuple:
            return {"tuple": inner(value)}
        kind = type(value)
        return {"named": [f"{kind.__module__}.{kind.__qualname__}", inner(value)]}
    if isinstance(value, list):
        return inner(value)
    if isinstance(value, dict):
        return {"dict": [inner(pair) for pair in value.items()]}
    if isinstance(value, slice):
        return {"slice": inner((value.start, value.stop, value.step))}
    if value is Ellipsis:
        return {"ellipsis": True}
    for name, constant in _TORCH.items():
        if isinstance(value, constant):
            return {name: str(value).removeprefix("torch.")}
    if isinstance(value, torch.device):
        return {"device": str(value)}
    if isinstance(value, torch.Generator):
        state = table.add_state(value.get_state())
        seed = value.initial_seed()
        return {"generator": {"device": str(value.device), "seed": seed, "state": state}}
    # torch treats NumPy scalars as Python numbers.
    if type(value).__module__ == "numpy" and hasattr(value, "item") and value.ndim == 0:
        return encode(value.item(), table, depth + 1)
    raise NotStorableError(f"an argument is of type {type(value).__qualname__}")


def _encode_int(value: int) -> int:
    if abs(value) >= _LARGEST:
        raise NotStorableError("an integer has more than 128 bits")
    return value


def _encode_float(value: float) -> Any:
    return value if math.isfinite(value) else {"float": repr(value)}


# From JSON


def decode(value: Any, tensors: int, where: str, depth: int = 0) -> Any:
    """Decode what :func:`encode` wrote, with references for tensors, devices and generators.

    :param tensors: length of the bundle's table.
    :raises BundleError: the value was not written by ``encode``.
    """
    if depth > DEPTH:
        raise BundleError(f"{where} nests deeper than {DEPTH}")
    if value is None or type(value) in (bool, str):
        return value
    if type(value) is int:
        if abs(value) >= _LARGEST:
            raise BundleError(f"{where} holds an integer of more than 128 bits")
        return value
    if type(value) is float:
        if not math.isfinite(value):
            raise BundleError(f"{where} holds a number out of range")
        return value
    if type(value) is list:
        return [decode(x, tensors, where, depth + 1) for x in value]
    if type(value) is not dict or len(value) != 1:
        raise BundleError(f"{where} is not a JSON value with a known encoding")
    (kind, content), *_ = value.items()
    return _decode_object(kind, content, tensors, where, depth + 1)


def _decode_object(kind: str, content: Any, tensors: int, where: str, depth: int) -> Any:
    def items(length: int | None = None, of: Any = content) -> list[Any]:
        if type(of) is not list or length not in (None, len(of)):
            raise BundleError(f"{where}: {kind!r} does not hold a list of the right length")
        return [decode(x, tensors, where, depth) for x in of]

    if kind == "tensor":
        return TensorRef(below(tensors)(content, where))
    if kind == "tuple":
        return tuple(items())
    if kind == "size":
        if type(content) is not list:
            raise BundleError(f"{where}: a size must be a list")
        return torch.Size([count(x, where) for x in content])
    if kind == "slice":
        return slice(*items(3))
    if kind == "ellipsis" and content is True:
        return ...
    if kind == "dict":
        return _decode_dict([items(2, pair) for pair in _list(content, where)], where)
    if kind == "float" and isinstance(content, str) and content in _SPECIAL:
        return _SPECIAL[content]
    if kind == "complex":
        parts = items(2)
        if all(type(x) is float for x in parts):
            return complex(*parts)
    if kind in _TORCH:
        return _torch_constant(kind, content, where)
    if kind == "device":
        return device_ref(content, where)
    if kind == "generator":
        fields = Fields(content, f"generator in {where}")
        found = GeneratorRef(
            device_ref(fields.take("device", str), where),
            fields.take("seed", int) % (1 << 64),
            below(tensors)(fields.anything("state"), where),
        )
        fields.done()
        return found
    if kind == "named":
        parts = _list(content, where)
        if len(parts) == 2 and isinstance(parts[0], str):
            return Named(parts[0], tuple(items(None, parts[1])))
    raise BundleError(f"{where}: {kind!r} is unknown or has invalid content")


def _list(value: Any, where: str) -> list[Any]:
    if type(value) is not list:
        raise BundleError(f"{where} holds something other than the expected list")
    return value


def _decode_dict(pairs: list[list[Any]], where: str) -> dict[Any, Any]:
    for key, _ in pairs:
        if not isinstance(key, (str, int, bool, type(None))):
            raise BundleError(
                f"{where} has a dictionary with a key other than a str, int, bool or None"
            )
    return dict(pairs)


def _torch_constant(kind: str, name: Any, where: str) -> Any:
    """Return the dtype, layout or other constant of torch with this name; refuse other objects."""
    found = vars(torch).get(name) if isinstance(name, str) and _NAME.fullmatch(name) else None
    if not isinstance(found, _TORCH[kind]):
        raise BundleError(f"{where}: torch has no {kind} {name!r}")
    return found


def device_ref(name: Any, where: str) -> DeviceRef:
    """Return a reference to a device by its name: the device need not exist here.

    :raises BundleError: the name is not the name of a device.
    """
    if not isinstance(name, str) or not _DEVICE.fullmatch(name):
        raise BundleError(f"{where}: {name!r} does not name a device")
    return DeviceRef(name)


def dtype_of(name: str, where: str) -> torch.dtype:
    """Return a dtype by its name without ``torch.``.

    :raises BundleError: torch has no such dtype.
    """
    found: torch.dtype = _torch_constant("dtype", name, where)
    return found


def substitute(tree: Any, leaf: Callable[[Any], Any]) -> Any:
    """Return the tree with ``leaf(value)`` in place of every value that is not a container."""

    def inner(value: Any) -> Any:
        return substitute(value, leaf)

    if isinstance(tree, list):
        return [inner(x) for x in tree]
    if type(tree) is tuple:
        return tuple(inner(x) for x in tree)
    if isinstance(tree, dict):
        return {key: inner(x) for key, x in tree.items()}
    if isinstance(tree, slice):
        return slice(inner(tree.start), inner(tree.stop), inner(tree.step))
    if isinstance(tree, Named):
        return tuple(inner(x) for x in tree.items)
    return leaf(tree)
