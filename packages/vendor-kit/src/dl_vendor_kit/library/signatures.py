"""The functions of an operator library, with the facts that are documented.

:mod:`dl_vendor_kit.library.signature_file` reads them.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a library's function.

    :ivar type: its true C type, without a const that is not part of the function's type.
    :ivar io: ``in``, ``out`` or ``inout``: what the function does with a tensor's elements.
    :ivar overwritten: the old elements of an ``inout`` tensor do not affect the result.
    :ivar optional: NULL is allowed.
    :ivar dtypes: documented dtypes; empty if undocumented.
    :ivar formats: documented memory formats; empty if undocumented.
    :ivar strided: False if only contiguous tensors are documented.
    :ivar ndim: smallest and largest number of dimensions; None if undocumented.
    :ivar descriptor: name of the argument that describes a pointer; empty: the argument before it.
    """

    name: str
    type: str
    io: str = "in"
    optional: bool = False
    dtypes: tuple[str, ...] = ()
    formats: tuple[str, ...] = ()
    strided: bool = True
    ndim: tuple[int, int] | None = None
    overwritten: bool = False
    descriptor: str = ""

    @property
    def reads(self) -> bool:
        """Return True if the function gets the tensor as an input."""
        return self.io != "out"

    @property
    def needs_elements(self) -> bool:
        """Return True if the result depends on the elements."""
        return self.reads and not self.overwritten

    @property
    def writes(self) -> bool:
        """Return True if the function writes the elements."""
        return self.io != "in"


@dataclass(frozen=True, slots=True)
class Function:
    """One function of a library: its arguments in order.

    :ivar since: the release that added it; empty if all supported releases have it.
    :ivar workspace: the function that returns the size of its workspace; empty: none.
    :ivar line: its line in the table.
    """

    name: str
    arguments: tuple[Argument, ...]
    since: str = ""
    workspace: str = ""
    line: int = 1

    def find(self, name: str) -> int | None:
        """Return the position of an argument; None if no argument has this name."""
        return next((i for i, a in enumerate(self.arguments) if a.name == name), None)


def plain_type(text: str) -> str:
    """Return a C type without a top-level const and with uniform spaces."""
    words = " ".join(text.replace("*", " * ").split()).replace(" *", "*")
    return words if words.endswith("*") else words.removeprefix("const ")
