"""Which inputs of a graph stay where they are, as parameters do, and which come anew each time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch.multiprocessing.reductions import StorageWeakRef

PATIENCE = 64
"""Runs after which an input that was never seen to stay or to go is one that goes."""

MOST_SEEN = 64
"""Storages of an input that are remembered."""


class Lasting:
    """What was seen of the storages of inputs.

    An input whose storage was an earlier run's, too, lasts: nobody has freed it in between. It may
    be one of several, as where layers share a graph. An input of which one storage is gone is made
    anew for each run. Of any other nothing is known yet.

    :ivar passing: the slots of inputs that do not last.
    """

    def __init__(self) -> None:
        self.passing: set[int] = set()
        self._seen: dict[int, dict[int, StorageWeakRef]] = {}
        self._unsure = 0

    def look(self, values: Sequence[Any], slots: Sequence[int]) -> bool:
        """Take a run into account; whether it is known now of each input.

        :param slots: of the inputs that are asked about.
        """
        unsure = [slot for slot in slots if not self._is_known(slot, values[slot])]
        if not unsure:
            return True
        self._unsure += 1
        if self._unsure <= PATIENCE:
            return False
        self.passing.update(unsure)
        return True

    def _is_known(self, slot: int, value: Any) -> bool:
        storage = value.untyped_storage()
        seen = self._seen.setdefault(slot, {})
        if storage._cdata in seen:
            return True
        gone = [place for place, each in seen.items() if each.expired()]
        if gone:
            self.passing.add(slot)
            self._seen[slot] = {}
            return True
        seen[storage._cdata] = StorageWeakRef(storage)
        if len(seen) > MOST_SEEN:
            del seen[next(iter(seen))]
        return False
