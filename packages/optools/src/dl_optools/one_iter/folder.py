"""The files of one recorded step: ``rank<R>/index.json`` and ``rank<R>/tensors-<n>.safetensors``.

Tensors are named by a hash of their content, so that the result of one operator and the equal input
of the next are stored once. ``index.json`` has the records in the order of the events.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from diopi_proto.foreign_file import DOCUMENT_BYTES, check_regular, read_regular_json

FORMAT = 1
SHARD = 256 << 20
"""Bytes that are buffered before they are written."""
_RANK = re.compile(r"rank\d{1,9}")
_HASH = re.compile(r"[0-9a-f]{40}")


class OneIterError(ValueError):
    """A folder holds no recorded step, or a damaged one."""


@dataclass
class Record:
    """One event of a step.

    :ivar kind: ``module``, ``operator``, ``weight``, ``weight gradient`` or ``weight after``.
    :ivar name: name of the module, operator or parameter.
    :ivar module: path of the enclosing module; for a module itself: its own path.
    :ivar call: counts the calls of this name in this module, from 0.
    :ivar phase: ``forward``, ``backward``, or ``step`` of an optimizer.
    :ivar random: it drew random numbers.
    :ivar inputs: hashes of tensors by name: ``args[0]``, ``kwargs['mask']``; in backward the
        gradients of the outputs.
    :ivar outputs: hashes of its results, then of arguments that it wrote to; in backward the
        gradients of the inputs.
    :ivar replay: data to call the operator again; None if it cannot be stored.
    """

    kind: str
    name: str
    module: str = ""
    call: int = 0
    phase: str = "forward"
    random: bool = False
    inputs: dict[str, str] = field(default_factory=dict)
    outputs: dict[str, str] = field(default_factory=dict)
    replay: dict[str, Any] | None = None

    @property
    def key(self) -> tuple[str, str, str, int, str]:
        """Return a key that identifies the event in another run of the step."""
        return self.kind, self.module, self.name, self.call, self.phase

    def __str__(self) -> str:
        count = f", call {self.call}" if self.call else ""
        if self.kind == "operator":
            place = f" in {self.module}" if self.module else ""
            return f"{self.name}{place}{count} ({self.phase})"
        phase = f" ({self.phase})" if self.kind == "module" else ""
        return f"{self.kind} {self.name or '(the model)'}{count}{phase}"


def _plain(tensor: torch.Tensor) -> torch.Tensor:
    host = tensor.detach().to("cpu")
    if host.layout != torch.strided:
        host = host.to_dense()
    return host.resolve_conj().resolve_neg().contiguous()


class Writer:
    """Writes the step of one process.

    :param folder: folder of the rank; it must be new or empty, or hold an interrupted step, which
        is replaced.
    :raises OneIterError: the folder is in use.
    """

    def __init__(self, folder: Path, facts: Mapping[str, Any]) -> None:
        if _is_interrupted(folder):
            shutil.rmtree(folder)
        if folder.exists() and any(folder.iterdir()):
            raise OneIterError(f"[OneIter] {folder} is not empty; name a new folder")
        folder.mkdir(parents=True, exist_ok=True)
        self.records: list[Record] = []
        self._folder = folder
        self._facts = dict(facts)
        self._tensors: dict[str, dict[str, Any]] = {}
        self._waiting: dict[str, torch.Tensor] = {}
        self._bytes = 0
        self._shards = 0

    def add(self, tensor: torch.Tensor) -> str:
        """Store the current content of a tensor; return its hash."""
        host = _plain(tensor)
        dtype = str(host.dtype).removeprefix("torch.")
        # safetensors has no dtype of that name.
        stored = torch.view_as_real(host) if host.is_complex() else host
        name = _hash(host)
        if name not in self._tensors:
            self._tensors[name] = {"shard": self._shards, "dtype": dtype}
            # Later writes of the program must not change it.
            self._waiting[name] = stored.clone()
            self._bytes += stored.nbytes
            if self._bytes >= SHARD:
                self._flush()
        return name

    def close(self, broken_by: str = "") -> None:
        """Write the rest, and the index last: a folder without an index is incomplete.

        :param broken_by: the error that interrupted the step.
        """
        self._flush()
        if broken_by:
            self._facts["broken_by"] = broken_by
        document = {
            "format": FORMAT,
            **self._facts,
            "tensors": self._tensors,
            "records": [asdict(record) for record in self.records],
        }
        text = json.dumps(document, indent=1)
        (self._folder / "index.json").write_text(text + "\n", encoding="utf-8")

    def _flush(self) -> None:
        if self._waiting:
            save_file(self._waiting, self._folder / _shard(self._shards))
            self._shards += 1
        self._waiting, self._bytes = {}, 0


def _is_interrupted(folder: Path) -> bool:
    try:
        return bool(Reader(folder).broken_by)
    except OneIterError:
        return False


def _hash(host: torch.Tensor) -> str:
    """Return the name of a tensor: a hash of its dtype, shape and bytes."""
    dtype = str(host.dtype).removeprefix("torch.")
    digest = hashlib.blake2b(f"{dtype} {tuple(host.shape)} ".encode(), digest_size=20)
    real = torch.view_as_real(host) if host.is_complex() else host
    if host.numel():
        digest.update(real.reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()


def _shard(number: int) -> str:
    return f"tensors-{number:05d}.safetensors"


class Reader:
    """Reads the step of one process; tensors are loaded on demand.

    :ivar facts: ``device``, ``rank``, ``torch``, ``forced``, and ``broken_by`` after an error.
    :raises OneIterError: the folder holds no recorded step.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        path = folder / "index.json"
        try:
            document = read_regular_json(path, DOCUMENT_BYTES)
        except (OSError, ValueError) as error:
            raise OneIterError(f"{folder} holds no whole recorded step: {error}") from None
        if not isinstance(document, dict) or document.pop("format", None) != FORMAT:
            raise OneIterError(f"{path} is not a recorded step of format {FORMAT}")
        try:
            self.records = [_record(each) for each in document.pop("records")]
            self._tensors: dict[str, dict[str, Any]] = document.pop("tensors")
            hashes = [
                x
                for record in self.records
                for x in (*record.inputs.values(), *record.outputs.values())
            ]
            if not all(_HASH.fullmatch(x) and x in self._tensors for x in hashes):
                raise KeyError("a record names a missing tensor")
            shards = {int(x["shard"]) for x in self._tensors.values()}
            self._dtypes = {k: _dtype(x["dtype"]) for k, x in self._tensors.items()}
        except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as error:
            raise OneIterError(f"{path} is damaged: {error}") from None
        self.facts = document
        self._by_key = {record.key: record for record in self.records}
        for shard in sorted(shards):
            self._check_shard(folder / _shard(shard))
        self._open: dict[int, Any] = {}
        self._verified: set[str] = set()

    @staticmethod
    def _check_shard(path: Path) -> None:
        """Refuse files that cannot be mapped: opening a FIFO would wait for another process."""
        try:
            check_regular(path)
        except FileNotFoundError:
            raise OneIterError(f"{path.parent}: {path.name} is missing") from None
        except OSError as error:
            raise OneIterError(str(error)) from None

    @property
    def broken_by(self) -> str:
        """Return the error that interrupted the step; empty if none did."""
        return str(self.facts.get("broken_by", ""))

    def find(self, key: tuple[str, str, str, int, str]) -> Record | None:
        """Return the record of an event."""
        return self._by_key.get(key)

    def dtype(self, name: str) -> torch.dtype:
        """Return the dtype of a tensor, by its hash."""
        return self._dtypes[name]

    def tensor(self, name: str) -> torch.Tensor:
        """Return a tensor by its hash, on the CPU.

        :raises OneIterError: the file does not hold it, or holds other content under its name.
        """
        shard = int(self._tensors[name]["shard"])
        try:
            if shard not in self._open:
                self._open[shard] = safe_open(self._folder / _shard(shard), "pt")
            found: torch.Tensor = self._open[shard].get_tensor(name)
        except (OSError, SafetensorError) as error:
            raise OneIterError(f"{self._folder / _shard(shard)}: {error}") from None
        dtype = self._dtypes[name]
        # A file with another shape cannot be viewed as complex numbers.
        if dtype.is_complex and found.shape[-1:] == (2,) and found.is_floating_point():
            found = torch.view_as_complex(found)
        if name not in self._verified:
            if _hash(found) != name:
                raise OneIterError(
                    f"{self._folder / _shard(shard)} is damaged: tensor {name} has other content"
                )
            self._verified.add(name)
        return found


def _record(data: dict[str, Any]) -> Record:
    """Return a record whose fields have the declared types.

    :raises TypeError: a field has another type.
    """
    record = Record(**data)
    texts = (record.kind, record.name, record.module, record.phase)
    named = (*record.inputs.items(), *record.outputs.items())
    if not (
        all(isinstance(text, str) for text in (*texts, *(x for pair in named for x in pair)))
        and isinstance(record.call, int)
        and isinstance(record.replay, dict | None)
    ):
        raise TypeError(f"the record of {record.name!r:.100} has a field of another type")
    return record


def _dtype(name: str) -> torch.dtype:
    found = vars(torch).get(name)
    if not isinstance(found, torch.dtype):
        raise ValueError(f"torch has no dtype {name!r}")
    return found


def ranks(folder: Path) -> dict[str, Path]:
    """Return the folders of all ranks.

    :raises OneIterError: there are none.
    """
    found = {x.name: x for x in sorted(folder.glob("rank*")) if _RANK.fullmatch(x.name)}
    if not found:
        raise OneIterError(f"{folder} holds no recorded step: it has no folder rank0")
    return found
