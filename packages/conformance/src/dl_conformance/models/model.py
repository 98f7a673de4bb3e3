"""Models and the calls that they make."""

from __future__ import annotations

import importlib
import json
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from dl_conformance.vocabulary import Calls

KINDS = ("language", "encoders", "vision", "networks")
_PARTS = ("decoders", "model")
"""Modules that have no models of their own."""
LARGEST = 1 << 26
"""Maximum number of elements of a tensor; larger embedding tables, of half a gigabyte and more,
are omitted."""


@dataclass(frozen=True)
class Model:
    """A model.

    :ivar name: name for ``--model``.
    :ivar published: published configuration that defines the shapes.
    :ivar calls: calls of the forward and backward pass.
    """

    name: str
    published: str
    calls: tuple[Calls, ...]


@cache
def all_models() -> dict[str, Model]:
    """Return the models by name, in the order of their files."""
    from dl_conformance import models

    there = {x.name for x in pkgutil.iter_modules(models.__path__)}
    assert there == {*KINDS, *_PARTS}, there
    found: dict[str, Model] = {}
    for kind in KINDS:
        for model in importlib.import_module(f"dl_conformance.models.{kind}").MODELS:
            found[model.name] = model
    return found


def model(name: str, published: str, calls: Iterable[Calls]) -> Model:
    return Model(name, published, tuple(calls))


Architecture = Callable[..., Iterable[Calls]]


def of_data(file: str, architectures: Mapping[str, Architecture]) -> Iterator[Model]:
    """Yield the models of a data file, ``NAME.json``: one line for each.

    :param architectures: functions that return the calls of a line's numbers, by its ``kind``.
    """
    for each in json.loads(Path(__file__).with_name(f"{file}.json").read_text("utf-8")):
        name, source, kind = (each.pop(key) for key in ("name", "source", "kind"))
        yield model(name, source, architectures[kind](**each))
