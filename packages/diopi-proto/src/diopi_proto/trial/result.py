"""Result of a trial, from the lines that its processes wrote."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import AbiMismatchError, TrialTimeoutError, VendorLoadError
from ..schema import load
from ..worker.outcome import signal_name

_MOST_DEVICES = 64
"""Maximum number of devices that trials read and hosts show."""


@dataclass(frozen=True)
class TriedDevice:
    """One device as described by its vendor."""

    index: int
    """Index in the vendor's numbering."""
    name: str
    total_memory: int
    """Bytes."""
    architecture: str


@dataclass(frozen=True)
class TriedKernels:
    """Compiler of a vendor with the kernel extension."""

    languages: str
    """Languages, separated by commas."""
    compiler: str
    """Name of the compiler; empty without one."""
    unavailable: str
    """Why kernels cannot be compiled, and the remedy; empty if they can."""


@dataclass(frozen=True)
class Trial:
    """Result of the trial of one library. Strings of the library are printable single lines."""

    path: Path
    legacy: bool = False
    failure: str = ""
    """Why the library must not be loaded, as a clause: it crashes, hangs, exits the process, or
    violates the interface."""
    defect: bool = False
    """True if the library violates the interface."""
    timed_out: bool = False
    """True if the trial exceeded its timeout."""
    signal: str | None = None
    """Name of the signal that ended the process, such as ``"SIGSEGV"``."""
    unloadable: str = ""
    """Why the dynamic loader cannot load the library."""
    refusal: str = ""
    """Why the library refuses to create an instance."""
    name: str = ""
    version: str = ""
    operators: Mapping[str, int] = field(default_factory=dict)
    """Names and fingerprints as listed by the library; legacy libraries get those of the contract.
    """
    device_count: int = 0
    said: str = ""
    """Last message that the library logged before its devices were counted; if there are none, the
    reason."""
    devices: tuple[TriedDevice, ...] = ()
    """Devices, at most as many as hosts show. A device without properties has the vendor's name."""
    extensions: tuple[str, ...] = ()
    """Extensions of the library that this host knows."""
    kernels: TriedKernels | None = None
    """None if the library does not compile kernels or has no device."""
    flaws: tuple[str, ...] = ()
    """Violations of the contract that do not prevent loading the library, as clauses: "it has no
    memory_copy, which every vendor needs"."""
    files: tuple[str, ...] = ()
    """Files of the library's code and of the libraries that it loaded itself."""

    @property
    def ok(self) -> bool:
        """Return True if the library can be loaded and creates an instance."""
        return not (self.failure or self.unloadable or self.refusal)

    @property
    def problem(self) -> str:
        """Return why the library is not ok, as a sentence without a full stop; empty if it is."""
        if self.failure:
            return f"{self.path} cannot be used: {self.failure}"
        if self.unloadable:
            return f"vendor library {self.path} cannot be loaded: {self.unloadable}"
        return self.refusal and f"{self.path} refuses to create an instance: {self.refusal}"

    @property
    def mismatched(self) -> list[str]:
        """Return operators of the contract that it has with another signature."""
        schema = load()
        return sorted(
            name
            for name, fingerprint in self.operators.items()
            if name in schema and schema[name].fingerprint != fingerprint
        )

    @property
    def unknown(self) -> list[str]:
        """Return operators that this host's contract does not have, and which it never calls."""
        return sorted(self.operators.keys() - load().keys())

    @property
    def bound(self) -> int:
        """Return the number of operators that have the contract's signature."""
        schema = load()
        return sum(
            name in schema and schema[name].fingerprint == fingerprint
            for name, fingerprint in self.operators.items()
        )

    def check(self) -> None:
        """Check that loading the library is safe: it works, or returns an error as the contract
        allows.

        :raises VendorLoadError: loading it is not safe.
        """
        if self.defect:
            raise AbiMismatchError(
                f"{self.problem}. The library violates the vendor interface; ask its maintainers "
                "for a corrected release."
            )
        if self.timed_out:
            raise TrialTimeoutError(f"{self.problem}.")
        if self.failure or self.unloadable:
            raise VendorLoadError(f"{self.problem}.")


def read_report(path: Path, legacy: bool, lines: Iterable[str], said: str, seconds: float) -> Trial:
    """Parse a report. It may be invalid, because the library runs in the process that wrote it.

    :param said: last line that its processes wrote to standard error.
    """
    stage, facts, end, done = "examined", _Facts(), None, False
    for line in lines:
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if not isinstance(record, dict):
            continue
        stage = str(record.get("stage", stage))
        done = done or record.get("done") is True
        end = record if "end" in record else end
        facts.take(record)
    trial = facts.trial(path, legacy)
    if done and not facts.damaged and end is not None and end["end"] == "exit":
        return trial
    failure, name = _failure(end, stage, seconds)
    if name is not None and facts.crashed_in not in ("", str(path)):
        failure += f"; the crash was in {facts.crashed_in}, which it loads"
    timed_out = end is not None and end["end"] == "timeout"
    if said and not timed_out:
        failure += f' (it said: "{said}")'
    return Trial(path, legacy, failure=failure, timed_out=timed_out, signal=name)


def _failure(end: Mapping[str, Any] | None, stage: str, seconds: float) -> tuple[str, str | None]:
    how = end["end"] if end is not None else None
    if how == "timeout":
        return f"it took longer than {seconds:g} seconds while being {stage}", None
    if how == "signal" and end is not None:
        name = signal_name(end.get("code"))
        hint = "; SIGILL means code for another processor" if name == "SIGILL" else ""
        return f"it crashed with {name} while being {stage}{hint}", name
    if how == "exit" and end is not None:
        return f"it ended the process with status {end.get('code')} while being {stage}", None
    return f"the process of its trial ended without a report while it was being {stage}", None


class _Facts:
    """Facts collected from the records of a report."""

    def __init__(self) -> None:
        self.damaged = False
        self.crashed_in = ""
        self._found: dict[str, Any] = {}
        self._devices: dict[int, TriedDevice] = {}

    def take(self, record: Mapping[str, Any]) -> None:
        try:
            self._take(record)
        except (KeyError, TypeError, ValueError):
            self.damaged = True

    def _take(self, record: Mapping[str, Any]) -> None:
        found = self._found
        if "defect" in record:
            found.update(failure=str(record["defect"]), defect=True)
        elif "unloadable" in record:
            found["unloadable"] = str(record["unloadable"])
        elif "refused" in record:
            found["refusal"] = str(record["refused"])
        elif "vendor" in record:
            vendor = record["vendor"]
            found.update(name=str(vendor["name"]), version=str(vendor["version"]))
            found["device_count"] = int(vendor["count"])
        elif "operators" in record:
            found["operators"] = {str(name): int(mark) for name, mark in record["operators"]}
        elif "device" in record:
            device = record["device"]
            index = int(device["index"])
            name, architecture = str(device["name"]), str(device["architecture"])
            self._devices[index] = TriedDevice(
                index, name or self._found["name"], int(device["total_memory"]), architecture
            )
        elif "crashed_in" in record:
            self.crashed_in = str(record["crashed_in"])
        elif "said" in record:
            found["said"] = str(record["said"])
        elif "flaw" in record:
            found["flaws"] = (*found.get("flaws", ()), str(record["flaw"]))
        elif "extensions" in record:
            found["extensions"] = tuple(map(str, record["extensions"]))
        elif "kernels" in record:
            names = ("languages", "compiler", "unavailable")
            found["kernels"] = TriedKernels(*(str(record["kernels"][name]) for name in names))
        elif "files" in record:
            found["files"] = tuple(map(str, record["files"]))

    def trial(self, path: Path, legacy: bool) -> Trial:
        name, count = self._found.get("name", ""), self._found.get("device_count", 0)
        devices = tuple(
            self._devices.get(index) or TriedDevice(index, name, 0, "")
            for index in range(min(count, _MOST_DEVICES))
        )
        return Trial(path, legacy, devices=devices, **self._found)
