"""``dl vendor check``: tests of a vendor library without torch and without a wheel.

The file is judged by the build rules, then the library is loaded in a child process, and finally
the runtime checks of the suite run in further child processes. Each finding is a sentence with the
remedy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from diopi_proto.build import check_library
from diopi_proto.errors import BuildError, DiopiError
from diopi_proto.trial import Trial, try_library

from .checks.check import checks, rule_of
from .outcome import Outcome
from .pool import NoDeviceError, Pool, WorkerError
from .target import Target

SLOTS = "the section Slots of dl-diopi-proto's docs/vendor.md"
REMEDIES = {
    "calls": "an operator enqueues on the stream of its own context, and shares nothing that it "
    "writes with calls of other threads",
    "devices": f"compare device_count, device_properties and memory_info with {SLOTS}",
    "errors": "return a status with a code and a message for an argument out of range, as the "
    "comments of dl/vendor.h and dl/status.h say",
    "instances": "store the state of a host in its instance, not in static variables",
    "kernels": "compare the kernel extension with dl/kernel.h",
    "memory": f"compare memory_allocate, memory_free and memory_copy with {SLOTS}",
    "streams": "a stream executes its work in order, and an event is finished when the work that "
    f"was enqueued before its last record is; see {SLOTS}",
}
"""Remedies for failed checks, by the module that defines the check."""


@dataclass(frozen=True)
class Finding:
    """A violation of the contract.

    :ivar subject: part of the library: ``file``, ``table``, or the subject of a runtime check.
    :ivar text: what is wrong and what to do about it.
    """

    subject: str
    text: str


@dataclass(frozen=True)
class Verdict:
    """Findings about a library.

    :ivar ran: number of runtime checks that ran to a result, skipped ones not included.
    :ivar skipped: reasons of skipped runtime checks by name.
    :ivar incomplete: why no runtime check ran; empty if they did.
    """

    findings: tuple[Finding, ...]
    ran: int = 0
    skipped: tuple[tuple[str, str], ...] = ()
    incomplete: str = ""

    @property
    def status(self) -> int:
        """Return the exit status: 1 if there are findings, 2 if the library was not tested."""
        return 1 if self.findings else 2 if self.incomplete else 0


def check_vendor(
    target: Target, seconds: float, tell: Callable[[Outcome], None] = lambda _: None
) -> Verdict:
    """Check a vendor library.

    :param seconds: timeout of the loading, and of each runtime check.
    :param tell: called with the outcome of each runtime check.
    """
    findings = [*_of_file(target)]
    try:
        trial = try_library(target.library, legacy=target.legacy, timeout=seconds)
    except DiopiError as error:
        findings.append(Finding("file", str(error)))
        return Verdict(tuple(findings), incomplete="the library cannot be loaded")
    findings += _of_table(trial)
    if not trial.ok:
        return Verdict(tuple(findings), incomplete="the library creates no instance")
    if target.legacy:
        incomplete = "a library without a vendor table leaves devices, memory and streams to hosts"
        return Verdict(tuple(findings), incomplete=incomplete)
    outcomes: list[Outcome] = []

    def note(outcome: Outcome) -> None:
        outcomes.append(outcome)
        tell(outcome)

    try:
        # One worker: two would compete for the device while a check measures it.
        Pool(target, jobs=1, seconds=seconds).run([*checks()], note)
    except NoDeviceError as error:
        return Verdict(tuple(findings), incomplete=str(error))
    except WorkerError as error:
        findings.append(Finding("table", f"{error}; load it with `diopi_proto.load_vendor`"))
        return Verdict(tuple(findings), incomplete="the library cannot be loaded")
    findings += _of_outcomes(outcomes, target)
    skipped = tuple((x.name, x.detail or x.cause) for x in outcomes if x.status == "skipped")
    return Verdict(tuple(findings), len(outcomes) - len(skipped), skipped)


def _of_file(target: Target) -> Iterator[Finding]:
    if target.legacy:
        return
    try:
        check_library(target.library)
    except BuildError as error:
        for line in str(error).splitlines()[1:]:
            yield Finding("file", line.strip())


def _of_table(trial: Trial) -> Iterator[Finding]:
    if not trial.ok:
        yield Finding("table", f"{trial.problem}{_advice(trial)}")
        return
    for flaw in trial.flaws:
        yield Finding("table", f"{flaw}; {SLOTS} lists what a table has to fill")
    if trial.mismatched:
        yield Finding(
            "table",
            f"{', '.join(trial.mismatched)}: compiled for other signatures than those of the "
            "installed dl-diopi-proto; compile the library against its headers",
        )


def _advice(trial: Trial) -> str:
    """Return what to do about a library that cannot be used; its own words say that themselves."""
    if trial.refusal:
        return ""
    if trial.defect:
        # Otherwise, a slot returned an error with the vendor's message.
        faulty_table = trial.failure.startswith("dl_vendor_v1 ")
        return f"; {SLOTS} lists what a table has to fill" if faulty_table else ""
    if trial.unloadable:
        return "; build it again, with the libraries of this machine"
    return "; run it under a debugger, or build it with -g"


def _of_outcomes(outcomes: Iterable[Outcome], target: Target) -> Iterator[Finding]:
    """Yield a finding for each cause: one fault often fails several checks alike."""
    found: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        if outcome.status == "failed":
            cause = outcome.cause if _is_lost(outcome) else outcome.detail or outcome.cause
            found.setdefault(" ".join(cause.split()), []).append(outcome)
    for cause, failed in found.items():
        name, subject = failed[0].name, _subject(failed[0])
        remedy = f"; {REMEDIES.get(subject, f'see {SLOTS}')}"
        if _is_lost(failed[0]):
            command = f"python -m dl_conformance --library {target.library} --case '{name}'"
            remedy = f"; `{command}` repeats it"
        elif failed[0].remedy:
            remedy = ""
        more = f" and {len(failed) - 1} more checks" if len(failed) > 1 else ""
        yield Finding(subject, f'"{rule_of(name)}"{more} failed: {cause}{remedy}')


def _is_lost(outcome: Outcome) -> bool:
    """Return True if the check did not end by itself."""
    return outcome.cause.startswith(("crash", "hang", "the process ended"))


def _subject(outcome: Outcome) -> str:
    return checks()[outcome.name].__module__.rpartition(".")[2]
