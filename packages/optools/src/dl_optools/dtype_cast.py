"""Tool that runs operators in other dtypes than the program requests."""

from __future__ import annotations

import csv
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TextIO

import torch
from typing_extensions import Unpack

from dl_core.tables import table
from dl_optools.call import OpCall
from dl_optools.computing import Recorder, only_describes
from dl_optools.dtypes import CastOptions
from dl_optools.environment import environment
from dl_optools.names import short_name
from dl_optools.outputs import results_directory, run_stamp, unused_path
from dl_optools.relocation import Relocation
from dl_optools.tensors import map_leaves, tensors_of
from dl_optools.tool import Tool, ToolOptions

Dtypes = Mapping[torch.dtype, torch.dtype]
_COLUMNS = ("name", "from", "to", "calls", "tensors")


class CastResults:
    """Statistics of casts.

    :ivar calls: number of calls by ``(operator, dtype, new dtype)``.
    :ivar tensors: number of arguments in these calls.
    """

    def __init__(self) -> None:
        self.calls: Counter[tuple[str, torch.dtype, torch.dtype]] = Counter()
        self.tensors: Counter[tuple[str, torch.dtype, torch.dtype]] = Counter()
        self._lock = threading.Lock()

    def add(self, name: str, pairs: Iterable[tuple[torch.dtype, torch.dtype]]) -> None:
        """Count one call, given the dtypes of each argument that was cast."""
        keys = Counter((name, *pair) for pair in pairs)
        with self._lock:
            self.tensors.update(keys)
            self.calls.update(keys.keys())

    def rows(self) -> list[tuple[str, str, str, str, str]]:
        """Return rows, most frequently cast operators first; columns as in the CSV file."""
        return [
            (name, str(source), str(target), str(count), str(self.tensors[name, source, target]))
            for (name, source, target), count in self.calls.most_common()
        ]

    def text(self) -> str:
        """Format the table as text."""
        return table(_COLUMNS, self.rows()) + "\n"


class _Copies:
    """The arguments of one call in the dtypes to which they are cast."""

    def __init__(self, args: Any, kwargs: Any, dtypes: Dtypes) -> None:
        self._dtypes = dtypes
        self._known: dict[int, torch.Tensor] = {}
        self.pairs: list[tuple[torch.Tensor, torch.Tensor]] = []
        self.args, self.kwargs = map_leaves(self._leaf, (args, kwargs))

    def _leaf(self, value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        target = self._dtypes.get(value.dtype, value.dtype)
        if target == value.dtype:
            return value
        if id(value) not in self._known:
            copy = self._known[id(value)] = value.to(target)
            self.pairs.append((value, copy))
        return self._known[id(value)]

    def original(self, tensor: torch.Tensor) -> torch.Tensor | None:
        """Return the argument that a tensor is a copy of."""
        return next((given for given, copy in self.pairs if copy is tensor), None)


class OpDtypeCast(Tool):
    """Casts operators' inputs to other dtypes and their outputs back, in forward and backward.

    Views and conversions between dtypes are left unchanged. In-place functions and ``out=`` write
    to the program's own tensors; gradients keep their original dtypes. At the end the tool shows
    what was cast, and writes it to ``op_dtype_cast_info_<run>.csv`` in
    ``op_tools_results/op_dtype_cast_result``. Variables: ``OP_DTYPE_CAST_LIST``,
    ``OP_DTYPE_CAST_DISABLE_LIST``, ``OP_DTYPE_CAST_DICT`` and, for single operators,
    ``<OP>_OP_DTYPE_CAST_DICT``.

    :param dtypes: mapping of dtypes, for all operators; None: the variables, else float16 and
        bfloat16 become float32.
    :param directory: output directory (default: as above).
    :param stream: receives the table; None: stderr.
    :param options: options of :class:`Tool`.
    :raises OptionError: a variable does not hold pairs of dtypes.
    """

    variable = "DTYPE_CAST"

    def __init__(
        self,
        *,
        dtypes: Dtypes | None = None,
        directory: Path | str | None = None,
        stream: TextIO | None = None,
        **options: Unpack[ToolOptions],
    ) -> None:
        super().__init__(**options)
        self._options = CastOptions(environment()) if dtypes is None else CastOptions({}, dtypes)
        self._directory = None if directory is None else Path(directory)
        self._stream = stream
        self.results = CastResults()

    def opened(self) -> None:
        self.results = CastResults()
        directory = results_directory("op_dtype_cast_result", self._directory)
        self._path = unused_path(directory / f"op_dtype_cast_info_{run_stamp()}.csv")

    def closed(self) -> None:
        rows = self.results.rows()
        stream = sys.stderr if self._stream is None else self._stream
        if not rows:
            stream.write("[OpDtypeCast] nothing was cast: no argument had a dtype that is cast\n")
            return
        with self.writing(self._path), self._path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(_COLUMNS)
            writer.writerows(rows)
        stream.write(f"{self.results.text()}{self.describe_destination(self._path)}\n")

    def wants(self, name: str, function: Callable[..., Any]) -> bool:
        return super().wants(name, function) and not only_describes(function, name)

    def handle(self, call: OpCall) -> Any:
        args, kwargs = call.args, call.kwargs
        copies = _Copies(args, kwargs, self._options.of(short_name(call.name)))
        if not copies.pairs:
            return call.proceed()
        call.args, call.kwargs = copies.args, copies.kwargs
        recorder = Recorder()
        try:
            with recorder:
                result = call.proceed()
        finally:
            call.args, call.kwargs = args, kwargs
        if not recorder.computed:
            # A view of a copy is not a view of the argument, and casting a view is useless.
            return call.proceed()
        for original, copy in copies.pairs:
            if recorder.wrote_to(copy):
                if original.shape != copy.shape:
                    original.resize_(copy.shape)
                original.copy_(copy)
        self.results.add(call.name, [(x.dtype, copy.dtype) for x, copy in copies.pairs])
        return self._back(call, copies, result)

    def _back(self, call: OpCall, copies: _Copies, result: Any) -> Any:
        """Return the result in the dtypes that the program expects."""
        dtypes = iter(_expected(call, copies, tensors_of(result)))

        def leaf(value: Any) -> Any:
            if not isinstance(value, torch.Tensor):
                return value
            expected = next(dtypes)
            original = copies.original(value)
            return value.to(expected) if original is None else original

        return map_leaves(leaf, result)


def _expected(call: OpCall, copies: _Copies, results: list[torch.Tensor]) -> list[torch.dtype]:
    """Return the dtypes that the results would have without the tool."""
    sources = {x.dtype for x in tensors_of(call.args, call.kwargs) if x.is_floating_point()}
    targets = {copy.dtype for _, copy in copies.pairs}
    if len(sources) == 1 and not _names_dtype(call):
        (source,) = sources
        return [source if x.dtype in targets else x.dtype for x in results]
    # Only the operator itself defines the result of several dtypes, or of a dtype argument.
    try:
        args, kwargs = Relocation((call.args, dict(call.kwargs)), "meta").tree
        with torch.no_grad():
            found = tensors_of(call.function(*args, **kwargs))
        if len(found) == len(results):
            return [x.dtype for x in found]
    except (RuntimeError, TypeError, ValueError, IndexError):
        # The operator has no meta implementation.
        pass
    sizes = [x for x in tensors_of(call.args, call.kwargs) if x.is_floating_point() and x.dim()]
    source = (sizes or [copies.pairs[0][0]])[0].dtype
    for x in sizes:
        source = torch.promote_types(source, x.dtype)
    return [source if x.dtype in targets else x.dtype for x in results]


def _names_dtype(call: OpCall) -> bool:
    values = (*call.args, *call.kwargs.values())
    return any(isinstance(value, torch.dtype) for value in values)
