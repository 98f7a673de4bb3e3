"""Findings and reports of the simulator."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from diopi_proto.foreign_file import DOCUMENT_BYTES, read_regular_json


@dataclass(frozen=True)
class Finding:
    """Fault at one instruction of a kernel."""

    kind: str
    """``out-of-bounds``, ``misaligned``, ``uninitialised``, ``race``, ``divergent-barrier``,
    ``deadlock``, ``assert``, ``trap``, ``invalid``, ``unsupported`` or ``timeout``."""
    kernel: str
    message: str
    source: str
    """``file:line`` if the PTX was compiled with ``-lineinfo``, else empty."""
    line: int
    """Line of the PTX, from 1."""
    block: tuple[int, int, int]
    thread: tuple[int, int, int]
    address: int
    count: int

    @classmethod
    def read(cls, record: Mapping[str, Any]) -> Finding:
        return cls(
            kind=record["kind"],
            kernel=record["kernel"],
            message=record["message"],
            source=record["source"],
            line=record["line"],
            block=tuple(record["block"]),
            thread=tuple(record["thread"]),
            address=record["address"],
            count=record["count"],
        )

    def __str__(self) -> str:
        place = f" at {self.source}" if self.source else ""
        times = f", {self.count} times" if self.count > 1 else ""
        return (
            f"[{self.kind}] {self.message}\n  in {self.kernel}{place} (PTX line {self.line}),"
            f" block {self.block} thread {self.thread}{times}"
        )


@dataclass
class Report:
    """Report on the processes of a program: their calls and findings."""

    findings: list[Finding] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)
    calls: dict[str, int] = field(default_factory=dict)
    launches: dict[str, int] = field(default_factory=dict)
    waits: dict[str, int] = field(default_factory=dict)
    """Number of waits of the host by driver call; ``synchronisations`` is their sum."""
    synchronisations: int = 0
    polls: int = 0
    """Number of completion queries that were answered "not ready"."""
    instructions: int = 0
    same_value_writes: int = 0

    @classmethod
    def read(cls, paths: Iterable[Path]) -> Report:
        """Read and merge the reports of several processes."""
        report = cls()
        for path in paths:
            record = read_regular_json(path, DOCUMENT_BYTES)
            report.findings += [Finding.read(each) for each in record["findings"]]
            report.messages += record["messages"]
            for name in ("calls", "launches", "waits"):
                counts = getattr(report, name)
                for key, count in record[name].items():
                    counts[key] = counts.get(key, 0) + count
            for name in ("synchronisations", "polls", "instructions", "same_value_writes"):
                setattr(report, name, getattr(report, name) + record[name])
        return report
