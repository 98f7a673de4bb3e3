"""Damaged and hostile bundles: read, exported as scripts that are not run, or replayed."""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import io
import json
import pickle
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .kind import CANARY, Case, Kind, WrongError

_LIMIT = 1 << 28
"""Bytes of memory that a bundle may use here."""
_REPLAYS = 0.04
"""Fraction of accepted bundles that are replayed; each needs a process with torch."""
_STRINGS = (
    *("", "\0", "\n", "../../x", "/etc/passwd", "cpu", "dl:99", "meta", "cuda", "int64", "float32"),
    *("os.system", "builtins.eval", "torch.load", "torch.ops.aten.add", "torch.hub.load", "exec"),
    *("torch.utils.cpp_extension.load_inline", "torch._C._jit_set_profiling_mode", "numpy.load"),
    *("__import__('os').system('touch $FUZZ_CANARY')", "';import os;os.abort()#", '"""', "\\"),
    *(
        "torch.nn.functional.linear",
        "aten.add.Tensor",
        "aten.segment_reduce.default",
        "é",
        "\ud800",
    ),
)
_NUMBERS = (
    0,
    1,
    -1,
    2,
    7,
    255,
    1 << 31,
    1 << 33,
    1 << 62,
    1 << 63,
    -(1 << 63),
    10**30,
    1e308,
    -0.0,
)


class Payload:
    def __reduce__(self) -> tuple[Any, ...]:
        import os

        return os.system, (f"touch ${CANARY}",)


def prepare(folder: Path) -> None:
    import torch

    from dl_optools.capture.capture import OpCapture

    weight, x = torch.randn(2, 3, requires_grad=True), torch.randn(4, 3)
    index = torch.tensor([0, 2, 1])
    programs = {
        "linear": lambda: torch.nn.functional.linear(x, weight).sum().backward(),
        "pool": lambda: torch.nn.functional.max_pool2d(torch.ones(1, 1, 4, 4), 2),
        "index": lambda: (x[:, index], x.index_add(0, index, x[:3]), torch.cat([x, x])),
        "sort": lambda: (x.sort(), torch.where(x > 0, x, 0), x.to(torch.float64).mean(0)),
    }
    for level in ("api", "dispatch"):
        for name, program in programs.items():
            directory = folder / "captured" / f"{level}-{name}"
            with OpCapture(directory=directory, stream=io.StringIO(), device="cpu", level=level):
                program()


def begin(folder: Path, own: Path) -> Case:
    from dl_optools.bundle import BundleError, find, read

    originals = find(folder / "captured")

    def case(choose: random.Random) -> str:
        bundle = _copy(choose.choice(originals), own / "case")
        _damage(choose, bundle, own / "case")
        try:
            found = read(bundle, limit=_LIMIT)
        except BundleError:
            return "refused"
        _export(found, own)
        if choose.random() < _REPLAYS:
            _replay(bundle)
            return "replayed"
        return "accepted"

    return case


def _copy(original: Path, target: Path) -> Path:
    """Copy a bundle with its tensor store."""
    shutil.rmtree(target, ignore_errors=True)
    store = original.parents[1] / "store"
    shutil.copytree(store, target / store.name)
    return Path(shutil.copytree(original, target / "operator" / original.name))


def _damage(choose: random.Random, bundle: Path, capture: Path) -> None:
    file = bundle / "bundle.json"
    document = json.loads(file.read_text())
    for _ in range(choose.choice((0, 1, 1, 1, 2, 3))):
        _change(choose, document)
    if choose.random() < 0.9:
        document["content_hash"] = "0" * 64
    try:
        text = json.dumps(document)
    except (TypeError, ValueError, RecursionError):
        text = "[" * 100_000
    digest = hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
    content = text.replace("0" * 64, digest, 1).encode(errors="surrogatepass")
    if choose.random() < 0.1:
        raw = bytearray(content)
        raw[choose.randrange(len(raw))] = choose.randrange(256)
        content = bytes(raw)
    file.write_bytes(content)
    if choose.random() < 0.3:
        _damage_store(choose, capture)


def _damage_store(choose: random.Random, capture: Path) -> None:
    stored = sorted(x for x in capture.rglob("*") if x.is_file() and x.name != "bundle.json")
    if not stored:
        return
    path = choose.choice(stored)
    what = choose.randrange(5)
    if what == 0:
        path.write_bytes(pickle.dumps(Payload()))
    elif what == 1:
        path.write_bytes(path.read_bytes()[: choose.randrange(200)])
    elif what == 2:
        path.unlink()
        path.symlink_to("/etc/passwd")
    elif what == 3:
        raw = bytearray(path.read_bytes())
        raw[choose.randrange(len(raw))] ^= 1 << choose.randrange(8)
        path.write_bytes(raw)
    else:
        path.unlink()
        path.mkdir()


def _change(choose: random.Random, document: dict[str, Any]) -> None:
    places = list(_places(document))
    container, key = choose.choice(places)
    what = choose.random()
    if what < 0.15:
        del container[key]
    elif what < 0.3 and isinstance(container, dict):
        container[choose.choice(("x", "unsafe", "out", "dtype", "same"))] = container[key]
    elif what < 0.45:
        other, at = choose.choice(places)
        with contextlib.suppress(KeyError, IndexError):
            container[key] = json.loads(json.dumps(other[at]))
    elif isinstance(container[key], int | float) and what < 0.8:
        container[key] = choose.choice((*_NUMBERS, container[key] + choose.choice((-1, 1, 8))))
    elif isinstance(container[key], list) and what < 0.7:
        container[key] = container[key] * choose.choice((0, 2, 2, 1000))
    else:
        container[key] = _value(choose)


def _value(choose: random.Random) -> Any:
    simple = (None, True, False, [], {}, float("nan"), [[]], {"tensor": 0}, {"device": "cpu"})
    value = choose.choice((choose.choice(_STRINGS), choose.choice(_NUMBERS), choose.choice(simple)))
    if choose.random() < 0.03:
        for _ in range(choose.choice((100, 900))):
            value = [value]
    return value


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every container and key; without recursion, because some bundles are deeply nested."""
    waiting = [value]
    while waiting:
        container = waiting.pop()
        if isinstance(container, dict | list):
            keys = list(container) if isinstance(container, dict) else range(len(container))
            yield from ((container, key) for key in keys)
            waiting += [container[key] for key in keys]


def _export(found: Any, own: Path) -> None:
    """Export as a script, which must be valid whatever texts the bundle contains."""
    from dl_optools.bundle import BundleError
    from dl_optools.replay.export import to_repro

    script = own / "reproduction.py"
    with contextlib.suppress(BundleError):
        to_repro(found, script, force=True)
        compile(script.read_bytes(), str(script), "exec")


def _replay(bundle: Path) -> None:
    from dl_optools.commands.replay import REPLAY

    parser = argparse.ArgumentParser()
    REPLAY.configure(parser)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        status = REPLAY.run(parser.parse_args([str(bundle), "--device", "cpu"]))
    if status not in (0, 1, 2):
        raise WrongError(f"dl replay ended with {status}")


KIND = Kind("bundles", 3000, begin, prepare, seconds=100, batch=150)
