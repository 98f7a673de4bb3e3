"""Memory of a process and of the device over time: a CSV file and a plot.

    python -m dl_optools.monitor.process_monitor --pid 4711 --interval 1

Only the process itself can report what it holds of a device; for other processes, the memory of the
device that is in use by all processes is recorded.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import os
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import astuple
from pathlib import Path

from typing_extensions import Self

from diopi_proto.text import write_error, write_output
from dl_optools.environment import environment
from dl_optools.monitor.memory_report import report
from dl_optools.monitor.samples import COLUMNS, Sample
from dl_optools.option_types import count, seconds
from dl_optools.options import ROWS, at_least, read
from dl_optools.outputs import ResultsError, results_directory, unused_path

_MIB = 1 << 20


def host_memory(pid: int) -> int | None:
    """Return the bytes of host memory of a process (its resident set); None if it has ended."""
    try:
        text = Path(f"/proc/{pid}/statm").read_text(encoding="ascii")
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return None
    # A process that has ended and whose parent has not waited for it.
    if state == "Z":
        return None
    return int(text.split()[1]) * os.sysconf("SC_PAGE_SIZE")


class DeviceMemory:
    """Memory of one accelerator, as far as torch reports it.

    :param own: the monitored process is this one.
    """

    def __init__(self, index: int, own: bool) -> None:
        import torch

        accelerator = torch.accelerator.current_accelerator()
        assert accelerator is not None
        self.name = f"{accelerator.type}:{index}"
        self._index, self._own = index, own
        self._torch = torch.accelerator

    def read(self) -> dict[str, float | None]:
        """Return values in MiB, by the names of :class:`Sample`."""
        values: dict[str, float | None] = {}
        if self._own:
            values["device_allocated"] = self._of(self._torch.memory_allocated)
            values["device_reserved"] = self._of(self._torch.memory_reserved)
        try:
            free, total = self._torch.get_memory_info(self._index)
        except (RuntimeError, NotImplementedError):
            return values
        return {**values, "device_used": (total - free) / _MIB, "device_total": total / _MIB}

    def _of(self, ask: Callable[[int], int]) -> float | None:
        try:
            return ask(self._index) / _MIB
        except (RuntimeError, NotImplementedError):
            return None


def _devices(own: bool) -> list[DeviceMemory]:
    try:
        import torch
    except ImportError:
        return []
    if torch.accelerator.current_accelerator() is None:
        return []
    return [DeviceMemory(index, own) for index in range(torch.accelerator.device_count())]


class ProcessMonitor:
    """Monitors a process from a background thread, until it is stopped or the process ends.

    Writes ``op_tools_results/process_monitor_result/process_monitor_result_<device>_pid<pid>_
    <label>_<time>.csv`` and, at the end, a plot next to it. Variables: ``label``, and
    ``OP_TOOLS_MAX_CACHE_SIZE`` for the number of buffered lines (1).

    :param pid: process to monitor; None: this process.
    :param interval: seconds between samples.
    :param devices: monitor accelerators, too. For another process, this process then uses them.
    :param label: part of the files' names; None: the variable.
    :param directory: output directory (default: as above).
    :param clock: monotonic clock in seconds.
    :raises ValueError: the interval is not above 0.
    :raises ProcessLookupError: the process does not exist.
    :raises ResultsError: nothing can be written to the directory.
    """

    def __init__(
        self,
        pid: int | None = None,
        interval: float = 1.0,
        *,
        devices: bool = True,
        label: str | None = None,
        directory: Path | str | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if not interval > 0:
            raise ValueError(f"[ProcessMonitor] interval={interval}: must be above 0 seconds")
        self.pid = os.getpid() if pid is None else pid
        if host_memory(self.pid) is None:
            raise ProcessLookupError(f"[ProcessMonitor] process {self.pid} does not exist")
        self.interval = interval
        self.samples: list[Sample] = []
        """Samples, with the first device's memory in memory and in the plot."""
        self._devices = _devices(self.pid == os.getpid()) if devices else []
        self._cache = read(environment(), "OP_TOOLS_MAX_CACHE_SIZE", at_least(1), 1, ROWS)
        self._unwritten: list[Sample] = []
        self._losses: list[str] = []
        self._clock = clock
        self._begun = clock()
        # In lower case, as in ditorch.
        label = environment().get("label", "") if label is None else label
        kind = self._devices[0].name.partition(":")[0] if self._devices else "host"
        stamp = time.strftime("%Y%m%d_%H%M%S")
        name = f"process_monitor_result_{kind}_pid{self.pid}_{_safe(label)}_{stamp}.csv"
        instead = Path(directory) if directory else None
        where = results_directory("process_monitor_result", instead)
        self.path = unused_path(where / name)
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> Self:
        """Take a sample now and after each interval.

        :raises RuntimeError: it is already running.
        """
        if self._thread is not None:
            raise RuntimeError("[ProcessMonitor] it is already running; stop it first")
        self._stopped.clear()
        self._thread = threading.Thread(target=self._run, name="dl-process-monitor", daemon=True)
        self._thread.start()
        return self

    def stop(self) -> None:
        """Take a last sample, write the remaining lines, and draw the plot.

        :raises ResultsError: not all could be written; ``samples`` is complete nevertheless.
        """
        self._stopped.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        self.sample()
        self._flush()
        plot = self.path.with_suffix(".html")
        try:
            plot.write_text(report(self.samples, self.pid), encoding="utf-8")
        except OSError as error:
            self._losses.append(f"{plot}: {error.strerror}")
        if self._losses:
            raise ResultsError(f"[ProcessMonitor] results are lost: {'; '.join(self._losses)}")

    def wait(self, seconds: float | None = None) -> None:
        """Wait until the process ends, or for a number of seconds."""
        if self._thread is not None:
            self._thread.join(seconds)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *exception: object) -> None:
        self.stop()

    def sample(self) -> bool:
        """Take a sample; return False if the process has ended."""
        rss = host_memory(self.pid)
        if rss is None:
            return False
        moment = time.strftime("%Y-%m-%dT%H:%M:%S")
        seconds = round(self._clock() - self._begun, 3)
        found = [
            Sample(moment, seconds, self.pid, rss / _MIB, device.name, **device.read())
            for device in self._devices
        ]
        found = found or [Sample(moment, seconds, self.pid, rss / _MIB)]
        self.samples.append(found[0])
        self._unwritten += found
        if len(self._unwritten) >= self._cache:
            self._flush()
        return True

    def _run(self) -> None:
        while self.sample() and not self._stopped.wait(self.interval):
            pass

    def _flush(self) -> None:
        try:
            self._write()
        except OSError as error:
            # The thread continues: its samples are in the plot, and may be in later lines.
            self._losses = self._losses or [f"{self.path}: {error.strerror}"]
        self._unwritten.clear()

    def _write(self) -> None:
        with self.path.open("a", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            if file.tell() == 0:
                writer.writerow(COLUMNS)
            for sample in self._unwritten:
                writer.writerow(
                    "" if x is None else f"{x:.3f}" if isinstance(x, float) else x
                    for x in astuple(sample)
                )


def _safe(label: str) -> str:
    return "".join(x if x.isalnum() or x in "-." else "_" for x in label)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``dl monitor``."""
    parser.add_argument("--pid", type=count, required=True, help="process to monitor")
    parser.add_argument(
        "--interval", type=seconds, default=1.0, help="seconds between samples (default: 1)"
    )
    parser.add_argument(
        "--duration", type=seconds, help="seconds to monitor (default: until the process ends)"
    )
    parser.add_argument("--no-devices", action="store_true", help="monitor the host only")


def run(arguments: argparse.Namespace) -> int:
    """Monitor until the process ends or Ctrl-C is pressed."""
    try:
        monitor = ProcessMonitor(
            arguments.pid, arguments.interval, devices=not arguments.no_devices
        )
    except (ProcessLookupError, ResultsError, ValueError) as error:
        write_error(f"{error}\n")
        return 2
    monitor.start()
    try:
        with contextlib.suppress(KeyboardInterrupt):
            monitor.wait(arguments.duration)
        monitor.stop()
    except ResultsError as error:
        write_error(f"{error}\n")
        return 1
    write_output(f"{monitor.path}\n{monitor.path.with_suffix('.html')}\n")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m dl_optools.monitor.process_monitor",
        description=(__doc__ or "").splitlines()[0],
    )
    configure(parser)
    return run(parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
