"""Random damage to the description of a new project: bytes, structure, values of other types."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from dl_vendor_kit.project import render
from library_attacks import FINDING, SUMMARY, contents, run

TEXTS = (
    *("", " ", "a b", "a\nb", "a\rb", "a\tb", '"', "'", "\\", "\0", "\x7f", "*/", "//", "#", "?"),
    *("class", "int", "t", "1", "-1", "1e999", "9" * 30, "9" * 5000, "null", "true", "std", "i"),
    *("größe", "ﬁne", "\uff49nput", "\u202e", "\U0001f600", "a" * 300, " " * 5000, "x, " * 3000),
    *(".", "..", "library.yaml", "signatures.json", "operators", "../library/library.yaml"),
    *("/dev/zero", "a/b/c", "library.yaml/x", "<a.h>", 'a.h"', "void", "int*", "int&", "a::b"),
    *("input", "out", "$t", "@mask", "@foo(input)", "like input", "float32 like out", "t(input)"),
    *("f(" * 50, "f(" * 2000, "[" * 50, "-" * 100, "1 // 0", "1 + 'a'", "a if b else c", "f(a) if"),
    *("9223372036854775807 + 1", "input == out", "not out", "x in ()", "[]", "()", "{}", "f()()"),
    *(
        "two_phase",
        "direct",
        "handle_descriptors",
        "tensor",
        "stream",
        "handle",
        "object",
        "scalar",
    ),
    *("float32", "int64", "ND", "int*?", "tensor&", "tensor*"),
)
NUMBERS = (0, 1, -1, 2, 63, 64, 255, 2**31, 2**63, 10**30, 0.5, -0.0, 1e308, float("inf"))
OTHERS: tuple[Any, ...] = (
    *(None, True, False, [], {}, [[]], [None], {"": 1}, {"x": None}, ["x", "x"], [1, "x"]),
    *({"x": {"x": {"x": 1}}}, ["2", 2], [2, 1], [-1, 3], [0.5, 1], {"float32": ["float32"]}),
)
KEYS = (
    *("when", "needs", "dtypes", "format", "contiguous", "upcast", "temporaries", "call", "calls"),
    *("each", "function", "unused", "workspace", "name", "type", "io", "optional", "ndim", "since"),
    *("formats", "strided", "descriptor", "overwritten", "stream", "executor", "namespace", "open"),
    *("headers", "declarations", "helpers", "defaults", "signatures", "page", "fake", "x", "class"),
)


@cache
def _template() -> dict[str, str]:
    files = render("toy_chip", "library", "separate")
    return {
        path.removeprefix("library/"): text
        for path, text in files.items()
        if path.startswith("library/")
    }


def write_template(folder: Path) -> None:
    """Write the description of a new project into a folder."""
    for path, text in _template().items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def damage(choose: random.Random, folder: Path) -> None:
    """Damage one of the files of a description."""
    file = choose.choice(
        [folder / "library.yaml", folder / "signatures.json", *sorted(folder.glob("operators/*"))]
    )
    original = file.read_bytes()
    if choose.random() < 0.3:
        file.write_bytes(_damaged_bytes(choose, original))
        return
    document = yaml.safe_load(original)
    for _ in range(choose.choice((1, 1, 1, 2, 3))):
        _change(choose, document)
    if file.suffix == ".json":
        text = json.dumps(document, indent=choose.choice((None, 1)))
    else:
        text = yaml.safe_dump(document, allow_unicode=choose.random() < 0.5, sort_keys=False)
    file.write_text(text, encoding="utf-8")


def _damaged_bytes(choose: random.Random, data: bytes) -> bytes:
    at = choose.randrange(len(data))
    end = min(len(data), at + choose.choice((1, 1, 2, 10, 100)))
    what = choose.randrange(6)
    if what == 0:
        return data[:at] + bytes([choose.randrange(256)]) + data[at + 1 :]
    if what == 1:
        return data[:at] + data[end:]
    if what == 2:
        return data[:at] + data[at:end] * choose.choice((2, 3, 500)) + data[end:]
    if what == 3:
        return data[:at]
    if what == 4:
        return data[:at] + choose.choice(TEXTS).encode() + data[at:]
    marks = (
        "&a ",
        "*a ",
        "!!str ",
        "!x ",
        "<<: ",
        "? ",
        "| ",
        "> ",
        "---\n",
        "\n- ",
        "%YAML 9.9\n",
    )
    return data[:at] + choose.choice((*marks, "[" * 3000, "{" * 3000, "\t")).encode() + data[at:]


def _change(choose: random.Random, document: Any) -> None:
    places = list(_places(document))
    if not places:
        return
    container, key = choose.choice(places)
    what = choose.random()
    if what < 0.1:
        del container[key]
    elif what < 0.2 and isinstance(container, dict):
        container[choose.choice((*KEYS, *TEXTS))] = container.pop(key)
    elif what < 0.3 and isinstance(container, dict):
        container[choose.choice(KEYS)] = _value(choose)
    elif what < 0.4:
        other, at = choose.choice(places)
        container[key] = json.loads(json.dumps(other[at]))
    elif what < 0.5 and isinstance(container[key], list | str):
        container[key] = container[key] * choose.choice((0, 2, 200))
    elif what < 0.6 and isinstance(container[key], str):
        container[key] = choose.choice(TEXTS) + container[key]
    else:
        container[key] = _value(choose)


def _value(choose: random.Random) -> Any:
    value = choose.choice((choose.choice(TEXTS), choose.choice(NUMBERS), choose.choice(OTHERS)))
    for _ in range(choose.choice((0,) * 20 + (1, 2, 30))):
        value = [value]
    return json.loads(json.dumps(value))


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every container and key; without recursion, because some values are deeply nested."""
    waiting = [value]
    while waiting:
        container = waiting.pop()
        if isinstance(container, dict | list):
            keys = list(container) if isinstance(container, dict) else range(len(container))
            yield from ((container, key) for key in keys)
            waiting += [container[key] for key in keys]


def outcome(folder: Path) -> str:
    """Run the generator on a damaged description and return ``accepted`` or ``refused``.

    :raises AssertionError: a finding has another form, or an input has changed.
    """
    before = contents(folder.parent)
    status, lines = run(folder)
    after = contents(folder.parent)
    assert status in (0, 1), status
    if status == 0:
        assert not lines, lines
        inputs = {name: data for name, data in before.items() if name.startswith(folder.name)}
        assert {name: after.get(name) for name in inputs} == inputs, "an input has changed"
        return "accepted"
    assert after == before, "a file has changed"
    findings = [line for line in lines if not SUMMARY.fullmatch(line)]
    assert findings
    for line in findings:
        assert FINDING.fullmatch(line) and line.isprintable(), line
        assert len(line) < 5000 and "object is not" not in line and "Error(" not in line, line
    return "refused"
