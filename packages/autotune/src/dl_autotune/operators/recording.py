"""Recording of the distinct operator calls of a program, with counts and times."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

from torch.utils._python_dispatch import TorchDispatchMode

from diopi_proto.foreign_file import DOCUMENT_BYTES, read_regular_json
from dl_core.torch_backend.devices import synchronize
from dl_core.torch_backend.tuning import extension, loaded

from .call import Call, described

FOLDER = "DL_TUNING_CALLS"
"""Environment variable with the output folder; a program may have several processes."""
_MOST = 20000
"""Maximum number of distinct calls; more would not help a program whose shapes never repeat."""


class CallRecorder(TorchDispatchMode):
    """Dispatch mode that times operators on dl, and writes calls with choices on exit."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._seen: dict[str, list[Any]] = {}

    def __torch_dispatch__(
        self, function: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        call = described(_name(function), args, kwargs)
        if call is None or not any(isinstance(value, dict) for value in call.arguments):
            return function(*args, **kwargs)
        signature = call.signature()
        seen = self._seen.get(signature)
        if seen is None:
            if len(self._seen) >= _MOST:
                return function(*args, **kwargs)
            # The first run is a warm-up: it is counted, but not timed.
            result, has_choices = self._first(function, args, kwargs)
            self._seen[signature] = [call, 1, 0.0, has_choices]
            return result
        begin = time.perf_counter()
        result = function(*args, **kwargs)
        synchronize()
        seen[1] += 1
        seen[2] += time.perf_counter() - begin
        return result

    def _first(self, function: Any, args: tuple[Any, ...], kwargs: Any) -> tuple[Any, bool]:
        """Run a call, and check if its vendor has choices for it."""
        vendors = [choices for name in loaded() if (choices := extension(name)) is not None]
        for choices in vendors:
            choices.record()
        result = function(*args, **kwargs)
        met = [record for choices in vendors for record in choices.recorded()]
        for choices in vendors:
            choices.record(0)
        return result, any(len(record.choices) > 1 for record in met)

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)  # type: ignore[no-untyped-call]
        folder = os.environ.get(FOLDER)
        if folder:
            calls = [
                {**call.as_json(), "count": count, "seconds": seconds / max(1, count - 1) * count}
                for call, count, seconds, has_choices in self._seen.values()
                if has_choices
            ]
            # Write atomically, in case the process is ended meanwhile.
            part = Path(folder) / f"{os.getpid()}.part"
            part.write_text(json.dumps(calls), encoding="utf-8")
            part.rename(part.with_suffix(".json"))


def _name(function: Any) -> str:
    name = str(function.name())
    return name if "." in name or function._overloadname == "" else f"{name}.default"


def recorded(folder: Path) -> list[tuple[Call, int, float]] | None:
    """Return distinct calls with choices of all processes, with counts and total seconds.

    The slowest call is first. The result is None if no process has recorded any.
    """
    files = sorted(folder.glob("*.json"))
    found: dict[str, tuple[Call, int, float]] = {}
    for file in files:
        for each in read_regular_json(file, DOCUMENT_BYTES):
            call = Call.of_json(each)
            _, count, seconds = found.get(call.signature(), (call, 0, 0.0))
            count, seconds = count + int(each["count"]), seconds + float(each["seconds"])
            found[call.signature()] = call, count, seconds
    return sorted(found.values(), key=lambda entry: -entry[2]) if files else None
