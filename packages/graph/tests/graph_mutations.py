"""Read and run mutated graph files; ``test_graph_file.py`` runs this in a child process.

``python graph_mutations.py LIBRARY FOLDER COUNT`` prints the numbers of rejected and run graphs.
Half of the mutations change arbitrary bytes. The other half change numbers and words of the
document, which stays canonical, so that these mutations reach the verifier.
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path
from typing import Any

import numpy as np

from diopi_proto import DiopiError, Vendor, load_vendor
from dl_graph import ContractGraph, Session, read

NUMBERS = (-1, 0, 1, 2, 3, 7, 16, 63, 64, 65, 255, 1 << 31, 1 << 40, (1 << 63) - 1)


def places(node: Any, found: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """Return all containers and keys below a node."""
    for key in list(node) if isinstance(node, dict) else range(len(node)):
        found.append((node, key))
        if isinstance(node[key], dict | list):
            places(node[key], found)
    return found


def mutated_bytes(content: bytes, rng: random.Random) -> bytes:
    mutated = bytearray(content)
    for _ in range(rng.choice([1, 1, 2, 8])):
        at = rng.randrange(len(mutated))
        choice = rng.randrange(4)
        if choice == 0:
            mutated[at] ^= 1 << rng.randrange(8)
        elif choice == 1:
            mutated[at] = rng.randrange(256)
        elif choice == 2:
            del mutated[at : at + rng.choice([1, 8, 64])]
        else:
            mutated[at:at] = mutated[at : at + rng.choice([1, 8, 64])]
        if not mutated:
            break
    return bytes(mutated)


def mutated_document(content: bytes, rng: random.Random) -> bytes:
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])
    document = json.loads(header["__metadata__"]["dlg"])
    for _ in range(rng.choice([1, 1, 2, 4])):
        node, key = rng.choice(places(document, []))
        old = node[key]
        if isinstance(old, bool):
            node[key] = not old
        elif isinstance(old, int):
            node[key] = rng.choice([*NUMBERS, old + 1, old - 1, "batch", "tokens", None])
        elif isinstance(old, list) and old:
            choice = rng.randrange(3)
            if choice == 0:
                old.pop(rng.randrange(len(old)))
            elif choice == 1:
                old.append(rng.choice(old))
            else:
                rng.shuffle(old)
        elif rng.random() < 0.5:
            other, there = rng.choice(places(document, []))
            node[key] = other[there]
            # Copy: a node must not contain itself.
            if isinstance(node[key], dict | list):
                node[key] = old
        else:
            node[key] = rng.choice([None, 0, "", [], {}, "int8", "float64", "temp", "input"])
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    header["__metadata__"]["dlg"] = text
    packed = json.dumps(header).encode()
    return len(packed).to_bytes(8, "little") + packed + content[8 + length :]


def run(graph: ContractGraph, vendor: Vendor) -> None:
    """Run all entries with small sizes."""
    if sum(state["bytes"] for state in graph.document["states"]) > 1 << 24:
        return
    with Session(graph, vendor) as session:
        for name in graph.entries:
            entry = graph.entry(name)
            sizes = {s["name"]: min(max(s["min"], 2), s["max"]) for s in entry["symbols"]}
            if max(sizes.values(), default=0) > 64:
                continue
            inputs = {}
            for port in entry["inputs"]:
                value = entry["values"][port["value"]]
                if not all(isinstance(s, int | str) for s in value["shape"]):
                    break
                shape = [sizes[s] if isinstance(s, str) else s for s in value["shape"]]
                if any(size < 0 for size in shape) or np.prod(shape, dtype=float) > 1 << 20:
                    break
                inputs[port["name"]] = np.ones(shape, value["dtype"].replace("bfloat16", "uint16"))
            if len(inputs) != len(entry["inputs"]):
                continue
            bound = {
                s
                for p in entry["inputs"]
                for s in entry["values"][p["value"]]["shape"]
                if isinstance(s, str)
            }
            session.run(name, inputs, {k: v for k, v in sizes.items() if k not in bound})


def main() -> None:
    library, folder, count = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    files = [path.read_bytes() for path in sorted(folder.glob("*.dlg"))]
    refused = 0
    with load_vendor(library) as vendor:
        for number in range(count):
            rng = random.Random(number)
            mutate = mutated_document if number % 2 else mutated_bytes
            content = mutate(files[number // 2 % len(files)], rng)
            sys.stderr.write(f"mutation {number}\n")
            try:
                run(read(content), vendor)
            except DiopiError:
                refused += 1
    print(refused, count - refused)


if __name__ == "__main__":
    main()
