"""Calls of operators on a busy stream, whose tensors get their elements on that stream.

Before the stream is finished, inputs hold zeros. Work of the stream itself writes their elements,
and the elements of outputs that are all wrong; so an operator that runs too early either computes
with zeros or has its result overwritten.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from diopi_proto import OutOfMemoryError, Tensor, Vendor
from diopi_proto.errors import DiopiError
from diopi_proto.host.streams import Stream as HostStream
from dl_conformance.case import Case, T
from dl_conformance.catalog import cases_of
from dl_conformance.execution import Call, CaseInputs
from dl_conformance.execution.judge import judge_call

from .bench import Bench, Block, Bytes, Stream


@dataclass(frozen=True, eq=False)
class Queue:
    """A stream as the host calls operators on it, and as the bench uses it."""

    host: HostStream
    stream: Stream

    @classmethod
    def of(cls, bench: Bench) -> Queue:
        host = bench.vendor.stream(bench.device)
        return cls(host, bench.adopt(host.pointer))


@dataclass
class Memory:
    """A tensor's memory.

    :ivar content: what the stream will write to it.
    :ivar shadow: copy that the stream makes after the operator; None for inputs.
    """

    block: Block
    content: Block
    shadow: Block | None


@dataclass
class Trial:
    """One call of an operator.

    :ivar busy: its stream was busy when the operator was enqueued.
    :ivar proven: its stream was so for long enough that work on another stream was finished.
    """

    call: Call
    expected: dict[str, Any]
    memory: list[Memory] = field(default_factory=list)
    results: dict[str, Any] = field(default_factory=dict)
    busy: bool = False
    proven: bool = False
    copied: list[tuple[Bytes, Bytes]] = field(default_factory=list)

    @property
    def operator(self) -> str:
        return self.call.case.operator

    def is_right(self) -> bool:
        """Return True if the results agree with the reference."""
        return not judge_call(self.call, self.expected, self.results).faults

    def is_joined(self) -> bool:
        """Return True if work that was enqueued after the operator saw its results."""
        return all(np.array_equal(shadow, final) for shadow, final in self.copied)


def suitable_cases(vendor: Vendor, operator: str) -> Iterator[Case]:
    """Yield small cases of an operator, float32 first, whose tensors are dense, have elements and
    need no other operator."""
    cases = [
        case
        for case in cases_of(operator)
        if case.layout == "contiguous" and not (case.edge or case.models or case.refusal)
    ]
    for case in sorted(cases, key=lambda case: case.dtype != "float32"):
        flat = [y for x in case.arguments.values() for y in (x if isinstance(x, list) else [x])]
        tensors = [x for x in flat if isinstance(x, T)]
        if all(0 not in x.sizes and not (x.csr or x.saved_by) for x in tensors):
            yield case


def working_trial(vendor: Vendor, case: Case) -> Trial | None:
    """Return a trial of a case that the vendor computes correctly with synchronous calls."""
    first = _trial(vendor, case)
    try:
        if first is None or first.call.prepare():
            return None
        first.results = first.call.run()
        if not first.is_right():
            return None
        second = _trial(vendor, case)
        return None if second is None or second.call.prepare() else second
    except DiopiError:
        return None


def repeated(vendor: Vendor, trial: Trial) -> Trial | None:
    """Return another trial of the same case, with tensors of its own."""
    again = _trial(vendor, trial.call.case, trial.expected)
    return None if again is None or again.call.prepare() else again


def _trial(vendor: Vendor, case: Case, known: dict[str, Any] | None = None) -> Trial | None:
    inputs = CaseInputs(case, getattr(vendor, "adaptor", None))
    expected = inputs.expected() if known is None else known
    try:
        return Trial(Call(vendor, inputs, expected), expected)
    except OutOfMemoryError:
        return None


def lay_out(bench: Bench, trial: Trial) -> None:
    """Move the elements of a call's tensors aside; all copies are finished after bench.settle()."""
    written = {p.name for p in trial.call.operator.params if p.direction != "in"}
    only_written = {p.name for p in trial.call.operator.params if p.direction == "out"}
    seen: set[int] = set()
    for name, value in trial.call.arguments.items():
        for tensor in value if isinstance(value, list) else [value]:
            if not isinstance(tensor, Tensor) or tensor.device is None:
                continue
            storage = tensor.storage
            if not storage.nbytes or storage.address in seen:
                continue
            seen.add(storage.address)
            block = Block(storage.address, storage.nbytes)
            content = bench.block(block.nbytes)
            bench.copy(content, block, bench.default)
            shadow = bench.block(block.nbytes) if name in written else None
            trial.memory.append(Memory(block, content, shadow))
            if name not in only_written:
                bench.upload(block, bench.pageable(0, block.nbytes), bench.default)


def enqueue(bench: Bench, trial: Trial, queue: Queue) -> None:
    """Enqueue the elements, the operator, and copies of its results."""
    for memory in trial.memory:
        bench.copy(memory.block, memory.content, queue.stream)
    trial.busy = bench.is_busy(queue.stream)
    trial.results = trial.call.run(stream=queue.host, synchronize=False)
    for memory in trial.memory:
        if memory.shadow is not None:
            bench.copy(memory.shadow, memory.block, queue.stream)


def collect(bench: Bench, trial: Trial, queue: Queue) -> None:
    """Read the copies of the results when the stream is finished, and then the results."""
    for memory in trial.memory:
        if memory.shadow is not None:
            copied, final = (bench.pageable(nbytes=memory.block.nbytes) for _ in range(2))
            bench.download(copied, memory.shadow, queue.stream)
            bench.settle()
            bench.download(final, memory.block, queue.stream)
            trial.copied.append((copied, final))


def outputs_now(bench: Bench, trial: Trial) -> list[bytes]:
    """Return the bytes that the outputs of a call have now."""
    found = []
    for memory in trial.memory:
        if memory.shadow is not None:
            array = bench.pageable(nbytes=memory.block.nbytes)
            bench.observe(array, memory.block)
            found.append(array.tobytes())
    return found
