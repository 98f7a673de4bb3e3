"""Contract graph that is captured and replayed, or run by the executor if it cannot be captured."""

from __future__ import annotations

import threading
import warnings
from typing import Any

import torch

from dl_dicp.engines.device_graph.recording import is_capturing
from dl_dicp.engines.device_graph.replays import Ports, Replays
from dl_dicp.program.document import Region
from dl_dicp.statistics import statistics

NAME = "capture"
"""Name of the engine."""

MOST_SIZES = 8
"""Maximum number of pairs of sizes and stream for which a contract graph is captured."""


def why_never(region: Region) -> str:
    """Return why a contract graph cannot be captured on any vendor; empty if it can."""
    if region.is_random:
        return "it draws random numbers, which would be the same in each replay"
    if len(region.calls) == 1:
        return "it has only one call, so a replay would save nothing"
    return ""


class CapturedProgram:
    """Contract graph that the executor runs until it is known which inputs keep their addresses;
    then it is captured.

    :param plain: the executor's program, which runs uncaptured graphs and enqueues the work of a
        capture.
    :ivar declined: why the graph is never captured; empty if it may be.
    """

    def __init__(
        self,
        plain: Any,
        ports: Ports,
        device: torch.device,
        never: str = "",
    ) -> None:
        self.declined = never
        self._plain = plain
        self._ports = ports
        self._device = device
        self._check = True
        self._replays: dict[tuple[tuple[int, ...], int], Replays] = {}
        self._limits: set[str] = set()
        self._lock = threading.Lock()

    def begin(self, check: bool) -> None:
        """Prepare for real runs.

        :param check: whether the first replay is compared with an executor run.
        """
        self._check = check
        if self.declined:  # expected, so that the user is not warned
            statistics.count_dropped(NAME, self.declined)

    def run(self, values: list[Any], sizes: tuple[int, ...] = ()) -> list[torch.Tensor]:
        """Run the graph and return its new tensors.

        :raises RuntimeError: an operator failed.
        """
        # A capture by the caller records the calls.
        plainly = self.declined or is_capturing(self._device)
        made = None if plainly else self._replayed(values, sizes)
        return list(self._plain.run(values, sizes)) if made is None else made

    def lines(self) -> list[str]:
        """Return lines for reports."""
        if self.declined:
            return [f"not captured, because {self.declined}"]
        graphs = sum(len(each.graphs) for each in list(self._replays.values()))
        if not graphs:
            return ["not captured yet: it is not known which inputs keep their addresses"]
        copied = {slot for each in list(self._replays.values()) for slot in each.slots}
        replays = sum(each.count for each in list(self._replays.values()))
        return [
            f"captured {graphs} times, replayed {replays} times; {len(copied)} of its "
            f"{len(self._ports.inputs)} inputs are copied",
            *(f"not captured for all runs, because {why}" for why in sorted(self._limits)),
        ]

    def _replayed(self, values: list[Any], sizes: tuple[int, ...]) -> list[torch.Tensor] | None:
        found = self._replays_for(sizes)
        if found is None:
            return None
        try:
            made = found.run(values)
        finally:
            if found.problem:
                self._decline(found.problem)
        if made is not None:
            statistics.count_engine_run(NAME)
        elif found.full:
            self._limit(found.full)
        return made

    def _replays_for(self, sizes: tuple[int, ...]) -> Replays | None:
        stream = torch.accelerator.current_stream(self._device).stream_id
        found = self._replays.get((sizes, stream))
        if found is not None:
            return found
        with self._lock:
            if (sizes, stream) not in self._replays:
                if len(self._replays) >= MOST_SIZES:
                    self._limit(f"there are more than {MOST_SIZES} tuples of sizes and streams")
                    return None
                self._replays[sizes, stream] = Replays(
                    self._plain, self._ports, sizes, self._device, self._check
                )
            return self._replays[sizes, stream]

    def _decline(self, why: str) -> None:
        if self.declined:
            return
        self.declined = why
        self._replays.clear()
        statistics.count_dropped(NAME, why)
        warn_once(why)

    def _limit(self, why: str) -> None:
        if why not in self._limits:
            self._limits.add(why)
            statistics.count_dropped(NAME, why)


_told: list[str] = []


def warn_once(why: str) -> None:
    """Count a graph that is not captured, and warn once."""
    if _told:
        return
    _told.append(why)
    warnings.warn(
        f"[dl] the engine capture cannot capture this graph: {why}. The contract's executor "
        "runs the graph; `dl dicp explain` reports each graph. This warning is given once.",
        RuntimeWarning,
        stacklevel=2,
    )


def forget_warning() -> None:
    """Allow the warning to be given again."""
    _told.clear()
