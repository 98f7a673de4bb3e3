"""One call that is to be compared, and the outcome of its comparison."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from diopi_proto.tolerance.torch_operators.comparison import OutputComparison
from dl_optools.compare.host_copies import CallRecord
from dl_optools.compare.subjects import Subject, Tree
from dl_optools.compare.trace import Answers
from dl_optools.names import Level


@dataclass
class CheckedCall:
    """One call that was run on the device, with everything a reference needs, on the CPU.

    :ivar number: the call's :attr:`~.call.OpCall.number`.
    :ivar parent: the Python function around an overload; empty if unknown.
    :ivar tree: ``(args, kwargs)`` as they were before the call; for gradients a third part, the
        gradients of the outputs.
    :ivar answers: outputs of the device: what the call returned and wrote.
    :ivar stack: the program's Python stack, innermost line first; empty in backward.
    :ivar record: additional data for a bundle of the call; None if it was not requested.
    :ivar extra: its signature was compared before.
    :ivar overwritten: read-only arguments that the call changed.
    """

    number: int
    name: str
    level: Level
    subject: Subject
    tree: Tree
    answers: Answers
    backward: bool = False
    parent: str = ""
    module: str = ""
    stack: tuple[Any, ...] = ()
    record: CallRecord | None = None
    extra: bool = False
    overwritten: tuple[str, ...] = ()


@dataclass(frozen=True)
class CallComparison:
    """The outcome of one call.

    :ivar parts: one for each result, written argument or gradient.
    :ivar reason: why it could not be compared; empty if it was.
    :ivar unjudged: descriptions of results of a compared call that have no reference.
    """

    number: int
    name: str
    level: Level
    backward: bool
    parent: str
    module: str
    stack: tuple[Any, ...] = field(repr=False)
    parts: tuple[OutputComparison, ...]
    reason: str = ""
    unjudged: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Return True if nothing that could be compared is wrong."""
        return all(part.ok for part in self.parts)

    @property
    def units(self) -> float:
        """Return the largest error of all parts; nan without parts."""
        return max((part.units for part in self.parts), key=nan_first, default=math.nan)

    @property
    def max_abs(self) -> float:
        return max((part.max_abs for part in self.parts), key=nan_first, default=math.nan)

    @property
    def max_rel(self) -> float:
        return max((part.max_rel for part in self.parts), key=nan_first, default=math.nan)

    @property
    def cosine(self) -> float:
        """Return the smallest cosine of all parts that have one; nan if none has."""
        return min((x.cosine for x in self.parts if not math.isnan(x.cosine)), default=math.nan)

    @property
    def detail(self) -> str:
        """Describe what is wrong."""
        return "\n".join(part.detail for part in self.parts if not part.ok)


def nan_first(value: float) -> float:
    """Return a key for ``max`` that orders nan first, so that it never hides another value."""
    return -math.inf if math.isnan(value) else value
