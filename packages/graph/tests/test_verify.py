"""Graphs with one fault: rejected with a message that names it, or detected by the results."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from diopi_proto import ArgumentError, load_vendor
from dl_graph import ContractGraph, GraphBuilder, Session, pack, read
from dl_graph.errors import GraphError
from graph_models import MODELS
from graph_vendor import GRAPH_OPERATORS

Compile = Callable[..., Path]
Document = dict[str, Any]
Change = Callable[[Document], None]


def altered(model: str, change: Change) -> ContractGraph:
    """Return a model whose document was changed before it was verified."""
    builder = MODELS[model][0]()
    document = copy.deepcopy(builder.document())
    change(document)
    return read(pack(document, builder.constants), "model.dlg")


def entry_of(document: Document) -> Document:
    return next(iter(document["entries"].values()))  # type: ignore[no-any-return]


def value(document: Document, name: str) -> Document:
    return next(v for v in entry_of(document)["values"] if v["name"] == name)


def storage(document: Document, name: str) -> Document:
    return entry_of(document)["storages"][value(document, name)["storage"]]  # type: ignore[no-any-return]


def index(document: Document, name: str) -> int:
    return entry_of(document)["values"].index(value(document, name))  # type: ignore[no-any-return]


def drop_call(number: int) -> Change:
    def change(document: Document) -> None:
        entry_of(document)["calls"].pop(number)

    return change


def in_call(number: int, **arguments: Any) -> Change:
    def change(document: Document) -> None:
        entry_of(document)["calls"][number][1].update(arguments)

    return change


def in_value(of: str, **fields: Any) -> Change:
    def change(document: Document) -> None:
        value(document, of).update(fields)

    return change


def in_storage(of: str, **fields: Any) -> Change:
    def change(document: Document) -> None:
        storage(document, of).update(fields)

    return change


def in_entry(**fields: Any) -> Change:
    def change(document: Document) -> None:
        entry_of(document).update(fields)

    return change


def overlapping_plan(document: Document) -> None:
    storages = entry_of(document)["storages"]
    offsets = [0 if each["kind"] == "temp" else -1 for each in storages]
    entry_of(document)["plans"] = [{"sizes": [12], "offsets": offsets, "bytes": 1 << 20}]


def small_plan(document: Document) -> None:
    overlapping_plan(document)
    entry_of(document)["plans"][0]["bytes"] = 64


def read_before_written(document: Document) -> None:
    calls = entry_of(document)["calls"]
    calls[0], calls[1] = calls[1], calls[0]


def write_a_constant(document: Document) -> None:
    entry_of(document)["calls"][0][1]["out"] = index(document, "second")


def write_over_an_operand(document: Document) -> None:
    entry_of(document)["calls"][0][1]["out"] = index(document, "x")


def forget_a_constant(document: Document) -> None:
    document["constants"].remove("first")


def forged_fingerprint(document: Document) -> None:
    document["contract"]["diopiMm"] = "0123456789abcdef"


def no_fingerprint(document: Document) -> None:
    del document["contract"]["diopiMm"]


def return_a_temporary(document: Document) -> None:
    entry_of(document)["outputs"][0]["value"] = index(document, "hidden")


def return_unwritten(document: Document) -> None:
    entry_of(document)["calls"].pop()


def unknown_operator(document: Document) -> None:
    entry_of(document)["calls"][0][0] = "diopiNoSuchThing"


def operator_of_unknown_sizes(document: Document) -> None:
    entry_of(document)["calls"][0] = ["diopiNonzero", {"input": 0}]


def unknown_field(document: Document) -> None:
    entry_of(document)["engine"] = "fast"


def newer_version(document: Document) -> None:
    document["dlg"] = 2


HUGE = ["*", ["*", "batch", 1 << 40], 1 << 40]
DEEP: Any = "batch"
for _ in range(40):
    DEEP = ["+", DEEP, 1]

REFUSED: dict[str, tuple[str, Change, str]] = {
    "a call that is missing": ("mlp", drop_call(0), "call 0 .*input reads value hidden, which"),
    "calls in the wrong order": ("mlp", read_before_written, "call 0 .*reads value hidden"),
    "an output that no call wrote": ("mlp", return_unwritten, "output y reads value y"),
    "an output that is a temporary": ("mlp", return_a_temporary, "output y is a temporary"),
    "a constant that is missing": (
        "mlp",
        in_storage("first", name="lost"),
        "constant 'lost' is not",
    ),
    "an unused constant": ("mlp", forget_a_constant, "tensors that are not constants"),
    "a constant that is written": ("mlp", write_a_constant, "second, which is a constant"),
    "a result over its operand": ("mlp", write_over_an_operand, "shares memory with input"),
    "a plan that overlaps": ("attention", overlapping_plan, "share memory while both are live"),
    "a plan that is too small": ("mlp", small_plan, "plan 0: temporar"),
    "a view that leaves its storage": ("mlp", in_value("hidden", offset=1), "hidden: it needs"),
    "a view with a stride too long": ("mlp", in_value("hidden", strides=[17, 1]), "it needs"),
    "a storage that is too small": ("mlp", in_storage("hidden", bytes=64), "which has 64"),
    "a negative size": ("mlp", in_value("hidden", shape=[-1, 16]), "the size -1 is -1"),
    "a negative stride": ("mlp", in_value("hidden", strides=[-16, 1]), "the stride -16"),
    "a negative offset": ("mlp", in_value("hidden", offset=["-", "batch", 64]), "the offset"),
    "sizes beyond 64 bits": ("mlp", in_storage("hidden", bytes=HUGE), "overflows 64-bit"),
    "an expression too deep": ("mlp", in_value("hidden", offset=DEEP), "more than 32 levels"),
    "a division by zero": ("mlp", in_value("hidden", offset=["//", "batch", 0]), "divides by"),
    "a symbol that is not declared": ("mlp", in_value("hidden", shape=["n", 16]), "'n' is not de"),
    "a dtype that does not fit": ("mlp", in_value("active", dtype="float16"), "has to be float32"),
    "a dtype that is none": ("mlp", in_value("active", dtype="float33"), "unknown dtype 'float33'"),
    "a value that is not there": ("mlp", in_call(0, out=99), "out: value 99 does not exist"),
    "an argument that is missing": ("mlp", in_call(0, out=None), "out: null, but the operator"),
    "an argument too many": ("mlp", in_call(0, beta=1), "arguments: it has unknown fields"),
    "a scalar without a dtype": ("mlp", in_call(1, alpha={"value": 1}), 'alpha: "dtype" is'),
    "a number that is none": ("dropout", in_call(0, p="0.25"), "'0.25' is not a number"),
    "a quotient by what may be zero": (
        "dropout",
        in_call(0, p=["/", 1, 0]),
        "the divisor is 0, which may not be positive",
    ),
    "a quotient that is a product": ("dropout", in_call(0, p=["*", 1, 2]), "not a number; write"),
    "a generator that is not there": ("dropout", in_call(0, generator="g"), "'g' is not declared"),
    "a symbol that ends before it begins": (
        "mlp",
        in_entry(symbols=[{"name": "batch", "min": 3, "max": 2}]),
        "0 <= min <= max",
    ),
    "a guard that is none": ("mlp", in_entry(guards=[["batch", 8]]), "guard 0: not a guard"),
    "an input without a port": ("mlp", in_entry(inputs=[]), "but not an input"),
    "a forged fingerprint": ("mlp", forged_fingerprint, "diopiMm was '0123456789abcdef'"),
    "no fingerprint": ("mlp", no_fingerprint, "no fingerprint of diopiMm"),
    "an operator that is unknown": ("mlp", unknown_operator, "unknown operator 'diopiNoSuchThing'"),
    "an operator of unknown sizes": ("mlp", operator_of_unknown_sizes, "depend on data"),
    "a field that is unknown": ("mlp", unknown_field, "it has unknown fields"),
    "a newer version": ("mlp", newer_version, "install a newer dl-graph"),
}


@pytest.mark.parametrize("fault", REFUSED)
def test_a_graph_with_a_fault_is_refused(fault: str) -> None:
    model, change, message = REFUSED[fault]
    with pytest.raises(GraphError, match=message) as refusal:
        altered(model, change)
    assert str(refusal.value).startswith("model.dlg: ")


def swap_operands(document: Document) -> None:
    arguments = entry_of(document)["calls"][1][1]
    arguments["input"], arguments["other"] = arguments["other"], arguments["input"]
    arguments["alpha"] = {"dtype": "int64", "value": 2}


def use_another_weight(document: Document) -> None:
    names = {"wq": "wk", "wk": "wq"}
    for each in entry_of(document)["storages"]:
        each["name"] = names.get(each.get("name"), each.get("name"))
        if each["name"] is None:
            del each["name"]


def write_to_the_wrong_place(document: Document) -> None:
    decode = document["entries"]["decode"]
    for each in decode["values"]:
        if each["name"].startswith("v") and each["offset"] not in (0, "0"):
            each["offset"] = 0


def a_guard_too_strict(document: Document) -> None:
    document["entries"]["decode"]["guards"] = [["<", "place", 6]]


def heads_in_the_wrong_order(document: Document) -> None:
    for each in entry_of(document)["values"]:
        if each["shape"] == [2, "tokens", 4]:
            each["strides"] = [["*", "tokens", 4], 4, 1]
            return


SHOWN: dict[str, tuple[str, Change]] = {
    "operands in the wrong order": ("mlp", swap_operands),
    "another weight": ("decoder", use_another_weight),
    "a cache that is written at the wrong place": ("decoder", write_to_the_wrong_place),
    "a guard that is too strict": ("decoder", a_guard_too_strict),
    "heads in the wrong order": ("attention", heads_in_the_wrong_order),
}


@pytest.mark.parametrize("fault", SHOWN)
def test_a_fault_that_is_not_refused_shows_in_the_results(
    fault: str, build_vendor: Compile
) -> None:
    model, change = SHOWN[fault]
    library = build_vendor(*GRAPH_OPERATORS)
    graph = altered(model, change)
    with (
        load_vendor(library) as vendor,
        Session(graph, vendor, poison=True) as session,
        pytest.raises((AssertionError, GraphError)),
    ):
        MODELS[model][1](session)


def test_a_guard_that_fails_at_both_ends_is_judged_when_it_runs() -> None:
    graph = altered("mlp", in_entry(guards=[["==", ["%", "batch", 8], 3]]))
    assert graph.plan("forward", batch=11).bytes > 0
    with pytest.raises(GraphError, match=r"the guard \(batch % 8\) == 3 does not hold \(batch = 8"):
        graph.plan("forward", batch=8)


def test_half_a_buffer_is_no_buffer() -> None:
    def build(rows: tuple[int, ...]) -> None:
        graph = GraphBuilder()
        entry = graph.entry("forward")
        x, whole = entry.input("x", [1, 4], "float32"), entry.empty([3, 4])
        for row in rows:
            entry.call("Relu", whole.narrow(0, row, 1), x)
        y = entry.empty([3, 4])
        entry.call("Relu", y, whole)
        entry.output("y", y)
        graph.build()

    build((0, 1, 2))
    with pytest.raises(GraphError, match="which has not been written completely"):
        build((0, 2))


def test_columns_that_are_apart_may_be_read_and_written_in_one_call() -> None:
    def build(first: int) -> None:
        graph = GraphBuilder()
        entry = graph.entry("forward")
        x = entry.input("x", [3, 4], "float32")
        entry.call("Relu", x.narrow(1, first, 2), x.narrow(1, 0, 2))
        entry.output("x", x)
        graph.build()

    build(2)
    build(0)  # the same elements: Relu may overwrite its input
    with pytest.raises(GraphError, match="shares memory with input"):
        build(1)


def test_a_repeated_element_is_not_written() -> None:
    graph = GraphBuilder()
    entry = graph.entry("forward")
    x, y = entry.input("x", [3], "float32"), entry.empty([1])
    entry.call("Relu", y.expand(3), x)
    entry.output("y", y)
    with pytest.raises(GraphError, match="whose elements share memory"):
        graph.build()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1, 2, 3), "alpha missing"),
        (("x", None, None, 1), "out: 'x' is not a value of the graph"),
        ((None, None, None, "much"), "alpha: 'much' is not a size"),
    ],
)
def test_the_builder_refuses_arguments(arguments: tuple[object, ...], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        GraphBuilder().entry("forward").call("Add", *arguments)


def test_the_builder_refuses_the_view_of_a_permuted_value() -> None:
    entry = GraphBuilder().entry("forward")
    with pytest.raises(GraphError, match="is not contiguous"):
        entry.empty([2, 3]).permute(1, 0).view(6)
