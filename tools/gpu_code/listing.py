"""Parser of NVIDIA machine code listings of ``cuobjdump -sass``: functions, instructions, and basic
blocks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

FUNCTION = re.compile(r"^\s*Function : (\S+)")
INSTRUCTION = re.compile(r"^\s*/\*([0-9a-f]{4,})\*/\s+(?:@(!?U?P\w+)\s+)?([A-Z]\S*)\s*(.*?)\s*;")
ADDRESS = re.compile(r"0x([0-9a-f]+)")
# Instructions that end a basic block. Calls return, and the others only define a reconvergence
# point.
JUMPS = ("BRA", "JMP", "BRX", "JMX", "EXIT", "RET")
WIDTHS = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "64": 8, "128": 16, "256": 32}


@dataclass(frozen=True)
class Instruction:
    """One instruction.

    :ivar address: offset in bytes from the function's start.
    :ivar predicate: its predicate as written; empty if there is none.
    :ivar opcode: opcode with modifiers: ``LDG.E.128``.
    """

    address: int
    predicate: str
    opcode: str
    operands: str

    @property
    def name(self) -> str:
        return self.opcode.split(".", 1)[0]

    @property
    def bytes(self) -> int:
        """Return the bytes that a thread moves, if this is a load or store."""
        found = [WIDTHS[part] for part in self.opcode.split(".")[1:] if part in WIDTHS]
        return found[-1] if found else 4

    @property
    def jumps(self) -> bool:
        return self.name in JUMPS

    @property
    def falls_through(self) -> bool:
        """Return True if the next instruction may run after this one."""
        if not self.jumps or self.predicate not in ("", "PT", "UPT"):
            return True
        # Some branches have their condition among the operands.
        return self.name == "BRA" and "," in self.operands

    def target(self) -> int | None:
        """Return the target of a branch; None if it is not in the listing."""
        if self.name not in ("BRA", "JMP"):
            return None
        found = ADDRESS.findall(self.operands)
        if not found:
            raise ValueError(f"the branch at {self.address:#x} has no address: {self.operands!r}")
        return int(found[-1], 16)


@dataclass
class Block:
    """A basic block, with the indices of its successors."""

    instructions: list[Instruction]
    next: list[int] = field(default_factory=list)


def functions(lines: Iterable[str]) -> Iterator[tuple[str, list[Instruction]]]:
    """Yield the functions of a listing: their mangled names and instructions.

    :raises ValueError: an instruction before any function, or a function without instructions.
    """
    name: str | None = None
    found: list[Instruction] = []
    for line in lines:
        if head := FUNCTION.match(line):
            if name is not None:
                yield _function(name, found)
            name, found = head.group(1), []
        elif match := INSTRUCTION.match(line):
            if name is None:
                raise ValueError(f"an instruction that belongs to no function: {line.strip()!r}")
            address, predicate, opcode, operands = match.groups()
            found.append(Instruction(int(address, 16), predicate or "", opcode, operands))
    if name is not None:
        yield _function(name, found)


def _function(name: str, found: list[Instruction]) -> tuple[str, list[Instruction]]:
    if not found:
        raise ValueError(f"the listing of {name} has no instructions")
    return name, found


def blocks(instructions: list[Instruction]) -> list[Block]:
    """Return the basic blocks of a function; the first one is its entry.

    :raises ValueError: the target of a branch is not an instruction.
    """
    at = {instruction.address: k for k, instruction in enumerate(instructions)}
    heads = {0}
    for k, instruction in enumerate(instructions):
        if not instruction.jumps:
            continue
        heads.add(k + 1)
        target = instruction.target()
        if target is None:
            continue
        if target not in at:
            raise ValueError(f"the branch at {instruction.address:#x} leaves the function")
        heads.add(at[target])
    heads.discard(len(instructions))
    order = sorted(heads)
    index = {head: k for k, head in enumerate(order)}
    found = []
    for head, end in zip(order, [*order[1:], len(instructions)], strict=True):
        block = Block(instructions[head:end])
        last = block.instructions[-1]
        target = last.target() if last.jumps else None
        if target is not None:
            block.next.append(index[at[target]])
        if last.falls_through and end < len(instructions) and index[end] not in block.next:
            block.next.append(index[end])
        found.append(block)
    return found
