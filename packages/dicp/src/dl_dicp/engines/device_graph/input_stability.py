"""Stable inputs of a graph, such as parameters, and transient ones with new memory in each run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch.multiprocessing.reductions import StorageWeakRef

PATIENCE = 64
"""Number of runs after which an input of unknown stability counts as transient."""

MOST_SEEN = 64
"""Maximum number of storages that are remembered for each input."""


class InputStability:
    """Observations of the storages of inputs.

    An input is stable if its storage was seen in an earlier run, since it was not freed in between.
    If layers share a graph, a stable input has several storages. An input is transient if one of
    its earlier storages was freed. The stability of all other inputs is still unknown.

    :ivar transient: the slots of transient inputs.
    """

    def __init__(self) -> None:
        self.transient: set[int] = set()
        self._seen: dict[int, dict[int, StorageWeakRef]] = {}
        self._unsure = 0

    def observe(self, values: Sequence[Any], slots: Sequence[int]) -> bool:
        """Take a run into account; return True if all inputs are known to be stable or transient.

        :param slots: slots of the inputs.
        """
        unsure = [slot for slot in slots if not self._is_known(slot, values[slot])]
        if not unsure:
            return True
        self._unsure += 1
        if self._unsure <= PATIENCE:
            return False
        self.transient.update(unsure)
        return True

    def _is_known(self, slot: int, value: Any) -> bool:
        storage = value.untyped_storage()
        seen = self._seen.setdefault(slot, {})
        if storage._cdata in seen:
            return True
        gone = [place for place, each in seen.items() if each.expired()]
        if gone:
            self.transient.add(slot)
            self._seen[slot] = {}
            return True
        seen[storage._cdata] = StorageWeakRef(storage)
        if len(seen) > MOST_SEEN:
            del seen[next(iter(seen))]
        return False
