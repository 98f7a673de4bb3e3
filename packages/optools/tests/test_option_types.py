"""Invalid numbers on command lines are refused by every command."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from dl_core.commands import Command
from dl_optools import OpOverflowCheck
from dl_optools.commands.bisect import BISECT
from dl_optools.commands.diagnose import DIAGNOSE
from dl_optools.commands.one_iter import ONE_ITER
from dl_optools.commands.replay import REPLAY
from dl_optools.commands.timing import MONITOR
from dl_optools.commands.tool import variables_of
from dl_optools.launching.baseline import BaselineError, read
from dl_optools.launching.launch import UnknownToolError, tools_of
from dl_optools.launching.variables import describe_unread, explain_misspelling
from dl_optools.option_types import count, seconds, tolerance


@pytest.mark.parametrize(
    ("parse", "good", "bad"),
    [
        (seconds, ["0.5", "60"], ["0", "-1", "nan", "inf", "1e400", "x", ""]),
        (tolerance, ["0", "1e-3"], ["-1", "nan", "inf", "-inf", "x"]),
        (count, ["1", "8"], ["0", "-1", "1.5", "nan", "inf", "x"]),
    ],
)
def test_numbers(parse: Callable[[str], float], good: list[str], bad: list[str]) -> None:
    assert [parse(text) for text in good] == [float(text) for text in good]
    for text in bad:
        with pytest.raises(argparse.ArgumentTypeError, match="is not a"):
            parse(text)


@pytest.mark.parametrize(
    ("command", "before", "options"),
    [
        (BISECT, [], ["--timeout", "--tolerance", "--jobs"]),
        (DIAGNOSE, [], ["--timeout", "--tolerance"]),
        (ONE_ITER, ["compare", "a", "b"], ["--tolerance"]),
        (REPLAY, ["a"], ["--timeout", "--repeat", "--memory-limit"]),
        (MONITOR, ["--pid", "1"], ["--interval", "--duration", "--pid"]),
    ],
)
def test_commands_refuse_them(
    command: Command,
    before: list[str],
    options: list[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    for option in options:
        for value in ("nan", "inf", "-1"):
            parser = argparse.ArgumentParser(exit_on_error=False)
            command.configure(parser)
            with pytest.raises((SystemExit, argparse.ArgumentError)) as refused:
                parser.parse_args([*before, f"{option}={value}"])
            said = capsys.readouterr().err + str(refused.value)
            assert f"{option}: '{value}' is not" in said


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--metric", "("], "is not a regular expression"),
        (["--metric", "(a)(b)"], "write one group"),
        (["--tolerance", "1"], "give --metric as well"),
        (["--output", "/proc/nothing"], "/proc/nothing"),
    ],
)
def test_a_diagnosis_is_refused_before_its_first_run(
    options: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    parser = argparse.ArgumentParser()
    DIAGNOSE.configure(parser)
    assert DIAGNOSE.run(parser.parse_args([*options, "--", "true"])) == 2
    assert said in capsys.readouterr().err


def test_a_program_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    parser = argparse.ArgumentParser()
    DIAGNOSE.configure(parser)
    assert DIAGNOSE.run(parser.parse_args(["--", "no-such-program"])) == 127
    assert capsys.readouterr().err == "dl diagnose: no-such-program: program not found\n"


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("OP_CAPTURE_LST", "no tool reads OP_CAPTURE_LST; did you mean OP_CAPTURE_LIST?"),
        ("AUTOCOMPARE_EVRY", "did you mean AUTOCOMPARE_EVERY?"),
        ("AUTOCOMPARE_ERROR_TOLERANCE_FLOAT33", "AUTOCOMPARE_ERROR_TOLERANCE_FLOAT32?"),
        ("ADD_AUTOCOMPARE_ERROR_TOLERANCE_FLOAT33", "ADD_AUTOCOMPARE_ERROR_TOLERANCE_FLOAT32?"),
        ("ADDD_OP_DTYPE_CAST_DICT", "is of no operator; did you mean ADD_OP_DTYPE_CAST_DICT?"),
    ],
)
def test_a_misspelled_variable_of_the_environment_has_a_sentence(name: str, problem: str) -> None:
    (sentence,) = describe_unread({name: "1"}, lambda: {"ADD", "LINEAR"})
    assert name in sentence and sentence.endswith(problem)


@pytest.mark.parametrize(
    "name", ["OP_SERVICE_ACCOUNT_TOKEN", "OP_SERVICE_LIST", "ADD_OP_DTYPE_CAST_DICT", "LR"]
)
def test_variables_of_tools_and_of_other_programs_have_none(name: str) -> None:
    assert describe_unread({name: "1"}, lambda: {"ADD"}) == []


def test_a_tool_warns_once_about_misspelled_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OP_OVERFLOW_CHECK_LSIT", "x")
    monkeypatch.setenv("LINEARR_AUTOCOMPARE_ERROR_TOLERANCE", "1,1")
    with pytest.warns(RuntimeWarning) as caught, OpOverflowCheck(device="cpu"):
        pass
    texts = [str(each.message) for each in caught]
    assert len(texts) == 2 and "LINEAR_AUTOCOMPARE_ERROR_TOLERANCE?" in texts[0]
    assert "OP_OVERFLOW_CHECK_LIST?" in texts[1]
    with warnings.catch_warnings(), OpOverflowCheck(device="cpu"):
        warnings.simplefilter("error")


def test_variables_that_no_tool_reads() -> None:
    for name in ("OP_CAPTURE_LIST", "LINEAR_AUTOCOMPARE_ERROR_TOLERANCE_FLOAT16", "LR", "DL_LOG"):
        assert explain_misspelling(name) == ""
    assert explain_misspelling("OP_CAPTURE_LITS").endswith("did you mean OP_CAPTURE_LIST?")
    keys = ("list", "exclude", "level", "device", "output", "every", "budget", "sample")
    more = ("tolerance", "bundles", "trace", "memory", "disk", "when_full", "dtypes")
    given = argparse.Namespace(**dict.fromkeys((*keys, *more)), set=["OP_CAPTURE_LITS=x"])
    with pytest.raises(ValueError, match="no tool reads OP_CAPTURE_LITS"):
        variables_of(given, tools_of("capture"))


def test_a_tool_that_is_named_twice() -> None:
    with pytest.raises(UnknownToolError, match="the tool 'compare' is listed twice"):
        tools_of("compare,autocompare")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[]", "not an object with a format"),
        ('{"format": 2, "compare": []}', "'compare' is not an object of operators"),
        ('{"format": 2, "compare": {"a": 1}}', "compare: a: 1 is not an object"),
        (
            '{"format": 2, "compare": {"a": {"checked": 1, "failed": -1, "units": 1}}}',
            "compare: a: 'failed' is -1",
        ),
        (
            '{"format": 2, "time": {"a": {"seconds": NaN, "share": 0.1}}}',
            "time: a: 'seconds' is nan",
        ),
        ('{"format": 2, "time": {"a": {"seconds": 1}}}', "time: a: 'share' is 'missing'"),
    ],
)
def test_baselines_that_are_damaged(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "baseline.json"
    path.write_text(text)
    with pytest.raises(BaselineError) as refused:
        read(path)
    assert said in str(refused.value) and str(path) in str(refused.value)
