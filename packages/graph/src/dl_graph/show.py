"""Text description of a graph and its memory plan."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from diopi_proto.schema import Parameter
from diopi_proto.schema import load as load_schema
from diopi_proto.text import printable

from .expression import text
from .model import ContractGraph

_LONGEST_LINE = 1 << 20


def show(graph: ContractGraph, **sizes: int) -> str:
    """Return a description of a graph, with the memory plan of its temporaries for these sizes.

    :param sizes: sizes of symbols (default: the largest ones).
    :raises GraphError: a guard does not hold for these sizes.
    """
    return "\n".join(printable(line, _LONGEST_LINE) for line in _lines(graph, sizes)) + "\n"


def _lines(graph: ContractGraph, sizes: Mapping[str, int]) -> Iterator[str]:
    document = graph.document
    yield f"graph {graph.name}: {graph.nbytes} bytes"
    if document["constants"]:
        yield "  constants: " + ", ".join(document["constants"])
    for state in document["states"]:
        initial = f", initially {state['initial']}" if state["initial"] else ""
        yield f"  state {state['name']}: {state['bytes']} bytes{initial}"
    if document["generators"]:
        yield "  generators: " + ", ".join(document["generators"])
    for name in graph.entries:
        yield ""
        yield from _entry(graph, name, sizes)


def _entry(graph: ContractGraph, name: str, sizes: Mapping[str, int]) -> Iterator[str]:
    entry = graph.entry(name)
    values = entry["values"]
    ports = ", ".join(f"{p['name']}: {_type(values[p['value']])}" for p in entry["inputs"])
    yield f"entry {name}({ports})"
    for symbol in entry["symbols"]:
        yield f"  {symbol['name']} in {symbol['min']} … {symbol['max']}"
    for relation, a, b in entry["guards"]:
        yield f"  guard {text(a)} {relation} {text(b)}"
    for operator, arguments in entry["calls"]:
        shown = ", ".join(
            f"{p.name}={_argument(p, arguments[p.name], values)}"
            for p in load_schema()[operator].params[1:]
            if p.name in arguments
        )
        yield f"  {operator}({shown})"
    for port in entry["outputs"]:
        value = values[port["value"]]
        yield f"  return {port['name']} = {value['name']}: {_type(value)}"
    own = {s["name"]: sizes.get(s["name"], s["max"]) for s in entry["symbols"]}
    plan = graph.plan(name, **own)
    at = ", ".join(f"{key} = {number}" for key, number in own.items())
    yield (
        f"  plan{f' for {at}' if at else ''}: {plan.bytes} bytes, most live {plan.most_live}, "
        f"apart {plan.apart}"
    )
    names: dict[int, str] = {}
    for value in values:
        names.setdefault(value["storage"], value["name"])
    for storage, offset in sorted(plan.offsets.items(), key=lambda item: item[1]):
        size = text(entry["storages"][storage]["bytes"])
        yield f"    {offset:>10}  {names[storage]}: {size} bytes"


def _type(value: Mapping[str, Any]) -> str:
    return f"{value['dtype']}[{', '.join(map(text, value['shape']))}]"


def _argument(parameter: Parameter, given: Any, values: list[Mapping[str, Any]]) -> str:
    if isinstance(given, list) and "TensorHandle" in parameter.type:
        return "[" + ", ".join(_argument(parameter, entry, values) for entry in given) + "]"
    if given is None:
        return "None"
    if "TensorHandle" in parameter.type:
        return str(values[given]["name"])
    if isinstance(given, dict):
        number = given["value"]
        return _floating(number) if "float" in given["dtype"] else text(number)
    if parameter.value_type in ("float", "double", "const double*"):
        return _floating(given)
    if "diopiSize_t" in parameter.type:
        return "[" + ", ".join(map(text, given)) + "]"
    return text(given)


def _floating(given: Any) -> str:
    return text(given) if isinstance(given, list) else str(float.fromhex(given))
