"""Graphs written by hand, and checks against numpy.

They need only the ten operators of ``fixtures/graph_operators.inc``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dl_graph import EntryBuilder, GraphBuilder, Session, Value

WIDTH, HEADS, LONGEST = 8, 2, 12
_SEED = np.random.default_rng(7)


def _weights(*shape: int) -> Any:
    return _SEED.standard_normal(shape).astype(np.float32) / 2


WEIGHTS = {name: _weights(WIDTH, WIDTH) for name in ("wq", "wk", "wv", "wo")}
FIRST, SECOND, BIAS = _weights(WIDTH, 16), _weights(16, 4), _weights(16)


def random(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def softmax(x: Any) -> Any:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def close(got: Any, wanted: Any) -> None:
    np.testing.assert_allclose(got, wanted, rtol=2e-5, atol=2e-5)


def product(entry: EntryBuilder, a: Value, b: Value, name: str = "") -> Value:
    out = entry.empty([a.shape[0], b.shape[1]], name=name)
    entry.call("Mm", out, a, b)
    return out


def mlp() -> GraphBuilder:
    """Build an MLP of two layers with a bias in between, for any batch size."""
    graph = GraphBuilder()
    first, second = graph.constant("first", FIRST), graph.constant("second", SECOND)
    bias = graph.constant("bias", BIAS)
    entry = graph.entry("forward")
    batch = entry.symbol("batch", 1, 64)
    x = entry.input("x", [batch, WIDTH], "float32")
    hidden = product(entry, x, entry.use(first), "hidden")
    biased = entry.empty([batch, 16], name="biased")
    entry.call("Add", biased, hidden, entry.use(bias).expand(batch, 16), 1)
    active = entry.empty([batch, 16], name="active")
    entry.call("Relu", active, biased)
    entry.output("y", product(entry, active, entry.use(second), "y"))
    return graph


def check_mlp(session: Session) -> None:
    # A larger batch reallocates the temporaries, also the temporaries of smaller batches.
    for batch in (3, 64, 1, 3):
        x = random(batch, WIDTH, seed=batch)
        got = session.run("forward", {"x": x})
        close(got["y"], np.maximum(x @ FIRST + BIAS, 0) @ SECOND)


def attention() -> GraphBuilder:
    """Build attention with two heads. Heads are views; the second product writes into a view."""
    graph = GraphBuilder()
    shared = {name: graph.constant(name, value) for name, value in WEIGHTS.items()}
    entry = graph.entry("block")
    tokens = entry.symbol("tokens", 1, LONGEST)
    x = entry.input("x", [tokens, WIDTH], "float32")
    head = WIDTH // HEADS

    def heads(name: str) -> Value:
        flat = product(entry, x, entry.use(shared[name]), name + "_x")
        return flat.view(tokens, HEADS, head).permute(1, 0, 2)

    scores = entry.empty([HEADS, tokens, tokens], name="scores")
    entry.call("Bmm", scores, heads("wq"), heads("wk").transpose(1, 2))
    scaled = entry.empty([HEADS, tokens, tokens], name="scaled")
    entry.call("MulScalar", scaled, scores, head**-0.5)
    weights = entry.empty([HEADS, tokens, tokens], name="weights")
    entry.call("Softmax", weights, scaled, -1)
    mixed = entry.empty([tokens, WIDTH], name="mixed")
    entry.call("Bmm", mixed.view(tokens, HEADS, head).permute(1, 0, 2), weights, heads("wv"))
    projected = product(entry, mixed, entry.use(shared["wo"]), "projected")
    out = entry.empty([tokens, WIDTH], name="out")
    entry.call("Add", out, projected, x, 1)
    entry.output("out", out)
    return graph


def attend(x: Any, q: Any, k: Any, v: Any) -> Any:
    """Return the output for the queries, keys and values of both heads."""
    split = [a.reshape(len(a), HEADS, -1).transpose(1, 0, 2) for a in (q, k, v)]
    scores = split[0] @ split[1].transpose(0, 2, 1) * (WIDTH // HEADS) ** -0.5
    mixed = (softmax(scores) @ split[2]).transpose(1, 0, 2).reshape(len(x), WIDTH)
    return mixed @ WEIGHTS["wo"] + x


def check_attention(session: Session) -> None:
    for tokens in (5, 1, LONGEST):
        x = random(tokens, WIDTH, seed=tokens)
        q, k, v = (x @ WEIGHTS[name] for name in ("wq", "wk", "wv"))
        close(session.run("block", {"x": x})["out"], attend(x, q, k, v))


def decoder() -> GraphBuilder:
    """Build a decoder with prefill and decode: one head, shared weights, a persistent KV cache."""
    graph = GraphBuilder()
    shared = {name: graph.constant(name, value) for name, value in WEIGHTS.items()}
    caches = {name: graph.state(name, [LONGEST, WIDTH]) for name in ("keys", "values")}

    def step(entry: EntryBuilder, x: Value, start: Any, count: Any) -> None:
        for name, cache in (("wk", "keys"), ("wv", "values")):
            new = product(entry, x, entry.use(shared[name]), name + "_x")
            entry.call("CopyInp", new, entry.use(caches[cache]).narrow(0, start, count))
        length = start + count
        keys = entry.use(caches["keys"]).narrow(0, 0, length)
        query = product(entry, x, entry.use(shared["wq"]), "query")
        scores = product(entry, query, keys.transpose(0, 1), "scores")
        weights = entry.empty([count, length], name="weights")
        entry.call("Softmax", weights, scores, -1)
        values = entry.use(caches["values"]).narrow(0, 0, length)
        entry.output("out", product(entry, weights, values, "out"))
        entry.output("keys", keys)

    prefill = graph.entry("prefill")
    tokens = prefill.symbol("tokens", 1, LONGEST)
    step(prefill, prefill.input("x", [tokens, WIDTH], "float32"), 0, tokens)
    decode = graph.entry("decode")
    place = decode.symbol("place", 0, LONGEST - 1)
    decode.guard(place + 1, "<=", LONGEST)
    step(decode, decode.input("x", [1, WIDTH], "float32"), place, 1)
    return graph


def check_decoder(session: Session) -> None:
    x = random(LONGEST, WIDTH)
    q, k, v = (x @ WEIGHTS[name] for name in ("wq", "wk", "wv"))
    for _ in range(2):
        got = session.run("prefill", {"x": x[:4]})
        close(got["out"], softmax(q[:4] @ k[:4].T) @ v[:4])
        for place in range(4, LONGEST):
            got = session.run("decode", {"x": x[place : place + 1]}, {"place": place})
            close(got["out"], softmax(q[place : place + 1] @ k[: place + 1].T) @ v[: place + 1])
            close(got["keys"], k[: place + 1])
        close(session.state("keys").view(np.float32).reshape(LONGEST, WIDTH), k)
        session.reset()
        assert not session.state("keys").any()


def dropout() -> GraphBuilder:
    """Build dropout that returns the random mask and the kept elements."""
    graph = GraphBuilder()
    generator = graph.generator("dropout")
    entry = graph.entry("train")
    count = entry.symbol("count", 1, 4096)
    x = entry.input("x", [count], "float32")
    left, mask = entry.empty([count], name="left"), entry.empty([count], "bool", name="mask")
    entry.call("Dropout", left, mask, x, 0.25, True, generator)
    twice = entry.empty([count], name="twice")
    entry.call("MulScalar", twice, left, 2.0)
    entry.output("twice", twice)
    entry.output("mask", mask)
    return graph


def check_dropout(session: Session) -> None:
    x = random(4096) + 10
    session.seed("dropout", 3, 5)
    first = session.run("train", {"x": x})
    close(first["twice"], 2 * x * first["mask"] / np.float32(0.75))
    assert 0.7 < first["mask"].mean() < 0.8
    moved = session.offset("dropout")
    assert moved > 5
    second = session.run("train", {"x": x})
    assert (first["mask"] != second["mask"]).any()
    assert session.offset("dropout") > moved
    session.seed("dropout", 3, 5)
    assert (session.run("train", {"x": x})["mask"] == first["mask"]).all()


def mutation() -> GraphBuilder:
    """Build an in-place mutation of an input; the outputs are the input and a view of it."""
    graph = GraphBuilder()
    entry = graph.entry("change")
    x = entry.input("x", [3, 4], "float32")
    entry.call("ReluInp", x)
    entry.output("same", x)
    entry.output("column", x.narrow(1, 2, 1))
    return graph


def check_mutation(session: Session) -> None:
    given = random(3, 4)
    wanted = np.maximum(given, 0)
    got = session.run("change", {"x": given})
    for array in (given, got["same"]):
        close(array, wanted)
    close(got["column"], wanted[:, 2:3])


MODELS: dict[str, tuple[Callable[[], GraphBuilder], Callable[[Session], None]]] = {
    "mlp": (mlp, check_mlp),
    "attention": (attention, check_attention),
    "decoder": (decoder, check_decoder),
    "dropout": (dropout, check_dropout),
    "mutation": (mutation, check_mutation),
}
