"""`dl vendor check`: each finding has one remedy, the check's own if the check knows one, and
skipped checks are named with the reason."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import pytest

import dl_conformance.checks.streams
from diopi_proto.trial import Trial
from dl_conformance.checks.check import SlotError, WrongError, run_check
from dl_conformance.outcome import Outcome
from dl_conformance.results import as_data
from dl_conformance.target import of_vendor
from dl_conformance.vendor_check import REMEDIES, SLOTS, Verdict, _of_outcomes, _of_table
from dl_conformance.vendor_command import _show, configure, run

CHECK = "runtime[an event that was never recorded is completed]"
FAILED = Outcome(CHECK, "runtime", "", "failed", "wrong behaviour", "event_query: it is wrong")


def test_check_without_a_remedy_gets_that_of_its_module() -> None:
    (finding,) = _of_outcomes([FAILED], of_vendor("cpu")[0])
    assert finding.subject == "streams"
    assert finding.text.endswith(f"failed: event_query: it is wrong; {REMEDIES['streams']}")


def test_remedy_of_a_check_is_the_only_one() -> None:
    outcome = replace(FAILED, detail="event_query: it is wrong; mend it", remedy="mend it")
    (finding,) = _of_outcomes([outcome], of_vendor("cpu")[0])
    assert finding.text.endswith("failed: event_query: it is wrong; mend it")


@pytest.mark.parametrize(
    ("error", "remedy"),
    [
        (SlotError("event_query: it is wrong", "mend it"), "mend it"),
        (WrongError("it is wrong"), ""),
    ],
)
def test_outcome_has_the_remedy_of_its_check(
    error: WrongError, remedy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(dl_conformance.checks.streams, "require", fail)
    with of_vendor("cpu")[0].load() as vendor:
        outcome = run_check(vendor, CHECK)
    assert (outcome.detail, outcome.remedy) == (str(error), remedy)
    assert as_data(outcome).get("remedy", "") == remedy


def test_skipped_checks_are_named_with_the_reason(capsys: pytest.CaptureFixture[str]) -> None:
    skipped = ((CHECK, "event_create is optional"), ("runtime[streams overlap]", "inconclusive"))
    _show(of_vendor("cpu")[0], Verdict((), ran=7, skipped=skipped))
    assert capsys.readouterr().out.splitlines() == [
        'skipped "an event that was never recorded is completed": event_create is optional',
        'skipped "streams overlap": inconclusive',
        "cpu: no findings, 7 runtime checks ran",
    ]


@pytest.mark.parametrize(
    ("trial", "remedy"),
    [
        ({"failure": "it was ended by SIGSEGV", "signal": "SIGSEGV"}, "; run it under a debugger"),
        ({"failure": "dl_vendor_v1 is wrong", "defect": True}, f"; {SLOTS} lists what a table"),
        ({"failure": "device_count: no driver", "defect": True}, "device_count: no driver"),
        ({"unloadable": "libnpu.so: not found"}, "; build it again"),
        ({"refusal": "there is no driver"}, "create an instance: there is no driver"),
    ],
)
def test_library_that_cannot_be_used_has_the_remedy_of_its_fault(
    trial: dict[str, str | bool], remedy: str
) -> None:
    (finding,) = _of_table(Trial(Path("libnpu.so"), **trial))  # type: ignore[arg-type]
    assert remedy in finding.text
    assert ("debugger" in finding.text) == ("signal" in trial)


@pytest.mark.parametrize(
    ("argument", "reason"),
    [
        ("missing.so", "missing.so: no such file; build the library first"),
        (".", ". is not a file; name the library that the build wrote"),
        ("missing", "missing: no such vendor; installed: "),
    ],
)
def test_argument_that_is_no_library_is_refused_with_the_reason(
    argument: str, reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    parser = argparse.ArgumentParser()
    configure(parser)
    assert run(parser.parse_args(["check", argument])) == 2
    assert f"dl vendor check: {reason}" in capsys.readouterr().err
