"""The hot path of a kernel, and its cost per element.

A kernel processes elements on a path from its entry to an exit, or in each iteration of a loop.
Each path has a number of instructions and a number of elements, which follows from the bytes that
it stores or loads, or from its multiply-adds. Only the widest accesses of the kernel count, and of
these only those without a predicate if there are any: tails move single elements under conditions,
and a path that skips elements that are out of range would seem cheap. The hot path has the fewest
instructions per element, so that the cheaper side of a branch is taken. Inner loops count as one
iteration, and called functions are not counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tools.gpu_code.listing import Block, Instruction

# Multiply-adds of one thread; those of a tensor core are shared by the 32 threads of a warp, or by
# the 128 threads of HGMMA.
MATRIX = {"HMMA": 32, "IMMA": 32, "DMMA": 32, "QMMA": 32, "BMMA": 32}
SHAPES = {
    "884": 8 * 8 * 4,
    "1684": 16 * 8 * 4,
    "1688": 16 * 8 * 8,
    "16816": 16 * 8 * 16,
    "16832": 16 * 8 * 32,
    "8816": 8 * 8 * 16,
    "8832": 8 * 8 * 32,
}
GROUP_SHAPE = re.compile(r"^(\d+)x(\d+)x(\d+)$")
SCALAR = {"FFMA": 1, "DFMA": 1, "HFMA2": 2}
TENSOR_CORE = (*MATRIX, "HGMMA", "IGMMA", "QGMMA")
LOADS, STORES = ("LDG", "LD"), ("STG", "ST")
REDUCTIONS = ("RED", "ATOMG", "ATOM", "REDG")


@dataclass(frozen=True)
class Unit:
    """Unit for counting the elements of a path.

    :ivar what: "stored" or "loaded" bytes of global memory, "multiply-adds", or "added": elements
        that atomic additions change.
    :ivar each: number of units per element.
    """

    what: str
    each: float = 1.0

    def of(self, instruction: Instruction) -> float:
        """Return the elements that one instruction accounts for."""
        if self.what == "stored":
            amount = instruction.bytes if instruction.name in STORES else 0
        elif self.what == "loaded":
            amount = instruction.bytes if instruction.name in LOADS else 0
            # Asynchronous loads to shared memory.
            amount += instruction.bytes if instruction.name == "LDGSTS" else 0
        elif self.what == "added":
            amount = 1 if instruction.name in REDUCTIONS else 0
        elif self.what == "multiply-adds":
            return multiply_adds(instruction) / self.each
        else:
            raise ValueError(f"no unit is called {self.what!r}")
        return amount / self.each


def multiply_adds(instruction: Instruction) -> float:
    """Return the multiply-adds of one thread's share of an instruction."""
    parts = instruction.opcode.split(".")
    if parts[0] in MATRIX:
        shape = next((SHAPES[part] for part in parts if part in SHAPES), None)
        if shape is None:
            raise ValueError(f"the shape of {instruction.opcode} is not known")
        return shape / MATRIX[parts[0]]
    if parts[0] in TENSOR_CORE:
        sizes = next((match for part in parts if (match := GROUP_SHAPE.match(part))), None)
        if sizes is None:
            raise ValueError(f"the shape of {instruction.opcode} is not known")
        m, n, k = map(int, sizes.groups())
        return m * n * k / 128
    return SCALAR.get(instruction.opcode if parts[0] == "HFMA2" else parts[0], 0)


@dataclass(frozen=True)
class HotPath:
    """Path of a kernel with the fewest instructions per element.

    :ivar loop: True for a loop, False for a path from the entry to an exit.
    """

    instructions: tuple[Instruction, ...]
    elements: float
    loop: bool

    @property
    def per_element(self) -> float:
        return len(self.instructions) / self.elements

    def widest(self, names: tuple[str, ...]) -> int:
        """Return the maximum bytes that such an instruction moves per thread; 0 if there is
        none."""
        return max((x.bytes for x in self.instructions if x.name in names), default=0)

    def count(self, names: tuple[str, ...]) -> int:
        return sum(x.name in names for x in self.instructions)


def dominators(found: list[Block]) -> list[int]:
    """Return the dominators of each block as a bit set; 0: unreachable."""
    before: list[list[int]] = [[] for _ in found]
    for k, block in enumerate(found):
        for after in block.next:
            before[after].append(k)
    reached, order = {0}, [0]
    for k in order:
        for after in found[k].next:
            if after not in reached:
                reached.add(after)
                order.append(after)
    every = (1 << len(found)) - 1
    sets = [every if k in reached else 0 for k in range(len(found))]
    sets[0] = 1
    changed = True
    while changed:
        changed = False
        for k in order[1:]:
            common = every
            for b in before[k]:
                if b in reached:
                    common &= sets[b]
            common |= 1 << k
            changed = changed or common != sets[k]
            sets[k] = common
    return sets


def loops(found: list[Block], sets: list[int]) -> Iterator[tuple[int, set[int]]]:
    """Yield each loop: its header and all its blocks. A loop with several back edges is yielded
    once for each."""
    before: list[list[int]] = [[] for _ in found]
    for k, block in enumerate(found):
        for after in block.next:
            before[after].append(k)
    for k, block in enumerate(found):
        for head in block.next:
            if not sets[k] >> head & 1:
                continue
            inside, rest = {head, k}, [k]
            while rest:
                at = rest.pop()
                if at == head:
                    continue
                for b in before[at]:
                    if sets[b] and b not in inside:
                        inside.add(b)
                        rest.append(b)
            yield head, inside


def amounts(found: list[Block], unit: Unit) -> list[float]:
    """Return the number of elements in each block."""
    of_kind = [x for block in found for x in block.instructions if unit.of(x)]
    if unit.what != "multiply-adds":
        widest = max((x.bytes for x in of_kind), default=0)
        of_kind = [x for x in of_kind if x.bytes == widest]
        of_kind = [x for x in of_kind if not x.predicate] or of_kind
    counted = {x.address for x in of_kind}
    return [sum(unit.of(x) for x in block.instructions if x.address in counted) for block in found]


def hot_path(found: list[Block], unit: Unit) -> HotPath | None:
    """Return the path with the fewest instructions per element; None if no path has elements."""
    sets, amount = dominators(found), amounts(found, unit)
    ways = [_best(found, sets, 0, None, amount)]
    ways += [_best(found, sets, head, inside, amount) for head, inside in loops(found, sets)]
    return min((way for way in ways if way), key=lambda way: way.per_element, default=None)


def _best(
    found: list[Block],
    sets: list[int],
    start: int,
    inside: set[int] | None,
    amount: list[float],
) -> HotPath | None:
    """Return the best path from a block to an exit of the function, or through one loop iteration.

    The minimum ratio of instructions to elements is found by Dinkelbach's method (Management
    Science 13, 1967): find the price of an element at which the best path breaks even.
    """
    order = _order(found, sets, start, inside)
    if not any(amount[k] for k in order):
        return None
    worth, best = 0.0, None
    for _ in range(64):
        way = _cheapest(found, sets, order, start, inside, amount, worth)
        elements = sum(amount[k] for k in way)
        if elements == 0:
            # With a price of 0, the empty path would be the best one.
            worth = worth * 2 + 1
            continue
        instructions = tuple(x for k in way for x in found[k].instructions)
        candidate = HotPath(instructions, elements, inside is not None)
        if best is not None and candidate.per_element >= best.per_element:
            return best
        best, worth = candidate, candidate.per_element
    return best


def _order(found: list[Block], sets: list[int], start: int, inside: set[int] | None) -> list[int]:
    """Return reachable blocks in topological order; back edges are ignored."""
    done: list[int] = []
    seen = {start}
    stack = [(start, iter(_forward(found, sets, start, inside)))]
    while stack:
        at, following = stack[-1]
        after = next((k for k in following if k not in seen), None)
        if after is None:
            done.append(at)
            stack.pop()
        else:
            seen.add(after)
            stack.append((after, iter(_forward(found, sets, after, inside))))
    return done[::-1]


def _forward(found: list[Block], sets: list[int], at: int, inside: set[int] | None) -> list[int]:
    return [k for k in found[at].next if not sets[at] >> k & 1 and (inside is None or k in inside)]


def _cheapest(
    found: list[Block],
    sets: list[int],
    order: list[int],
    start: int,
    inside: set[int] | None,
    amount: list[float],
    worth: float,
) -> list[int]:
    cost = {start: 0.0}
    came: dict[int, int] = {}
    position = {k: place for place, k in enumerate(order)}
    ends: list[tuple[float, int]] = []
    for k in order:
        if k not in cost:
            continue
        cost[k] += len(found[k].instructions) - worth * amount[k]
        if start in found[k].next if inside is not None else _ends(found[k]):
            ends.append((cost[k], k))
        for after in _forward(found, sets, k, inside):
            # The target of a backward branch that is not a natural loop is ignored.
            if position[after] <= position[k]:
                continue
            if after not in cost or cost[k] < cost[after]:
                cost[after] = cost[k]
                came[after] = k
    if not ends:
        return []
    way = [min(ends)[1]]
    while way[-1] != start:
        way.append(came[way[-1]])
    return way[::-1]


def _ends(block: Block) -> bool:
    return block.instructions[-1].name in ("EXIT", "RET", "BRX", "JMX") or not block.next
