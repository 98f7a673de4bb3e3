"""Merging of graphs into one graph with several entries, which share constants and states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dl_dicp.program.document import ENTRY
from dl_graph.file import ConstantTensor


@dataclass
class Part:
    """Unverified graph, and the contents of its constants and states by name."""

    document: dict[str, Any]
    contents: dict[str, ConstantTensor]


def join_graphs(parts: Mapping[str, Part]) -> Part:
    """Merge graphs into one.

    Constants with equal names and contents are merged; if contents differ, the entry's name is
    appended to the constant's name. A tensor that is a state in one entry is a state in all.

    :param parts: graphs by entry name. Their documents become parts of the result.
    :raises ValueError: the initial contents of a state differ between entries.
    """
    states = {s["name"]: s for part in parts.values() for s in part.document["states"]}
    first = next(iter(parts.values())).document
    document = {**first, "contract": {}, "states": list(states.values()), "entries": {}}
    contents: dict[str, ConstantTensor] = {}
    generators: set[str] = set()
    for entry, part in parts.items():
        names: dict[str, str] = {}
        for name, tensor in part.contents.items():
            names[name] = name
            if name in contents and not _same(contents[name], tensor):
                if name in states:
                    raise ValueError(
                        f"the state {name!r} has different initial contents in entry {entry!r}; "
                        "export all programs of the same model"
                    )
                names[name] = f"{name}.{entry}"
            contents[names[name]] = tensor
        made = part.document["entries"][ENTRY]
        for storage in made["storages"]:
            if "name" in storage:
                storage["name"] = names[storage["name"]]
                storage["kind"] = "state" if storage["name"] in states else storage["kind"]
        document["entries"][entry] = made
        document["contract"] |= part.document["contract"]
        generators |= set(part.document["generators"])
    document["generators"] = sorted(generators)
    document["constants"] = sorted(contents, key=str.encode)
    return Part(document, contents)


def _same(one: ConstantTensor, other: ConstantTensor) -> bool:
    """Return True if two constants are equal bit by bit."""
    a, b = one.array, other.array
    return one.dtype == other.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
