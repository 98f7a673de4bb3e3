"""Every ``dl`` command: help, behavior without arguments and with invalid ones, exit codes."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dl_core import cli

NO_REQUIRED_ARGUMENTS = {"doctor", "devices", "coverage", "tune show", "roofline"}
"""Commands that are useful without arguments."""
NAMELESS = "no-such-thing"
WITHOUT_A_FILE = {
    *("doctor", "devices", "coverage", "roofline", "dicp test", "dicp warm", "new-vendor"),
}
"""Commands that name no file, program, vendor or operator in their required arguments."""
PROGRAMS = {"run", "dicp explain"}
"""Commands that run any file as a Python program, and end as it does."""


def subcommands(parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, child in action.choices.items():
                yield name, child
                for below, parser_below in subcommands(child):
                    yield f"{name} {below}", parser_below


@pytest.fixture(scope="module")
def commands() -> dict[str, argparse.ArgumentParser]:
    """Return the parser of each command, as ``dl`` builds them."""
    found: dict[str, argparse.ArgumentParser] = {}

    class Stopped(BaseException):
        pass

    def stop(parser: argparse.ArgumentParser, *_: object) -> None:
        found.update(subcommands(parser))
        raise Stopped

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(argparse.ArgumentParser, "parse_args", stop)
        with pytest.raises(Stopped):
            cli.main([])
    return found


def answer(capsys: pytest.CaptureFixture[str], words: str) -> tuple[int, str, str]:
    """Run ``dl`` with these words; return its exit code, output and errors."""
    capsys.readouterr()
    try:
        code = cli.main(words.split())
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 1
    said = capsys.readouterr()
    return code, said.out, said.err


def test_all_wheels_contribute_their_commands(commands: dict[str, object]) -> None:
    expected = {"doctor", "run", "tune kernel", "dicp explain", "tool", "conformance", "gpu-sim"}
    assert expected <= set(commands)


def test_every_command_has_help_with_a_sentence_for_each_argument(
    commands: dict[str, argparse.ArgumentParser], capsys: pytest.CaptureFixture[str]
) -> None:
    for name, parser in commands.items():
        code, out, err = answer(capsys, f"{name} --help")
        assert (code, err) == (0, ""), name
        assert out.startswith(f"usage: dl {name} "), name
        for action in parser._actions:
            if not isinstance(action, argparse._SubParsersAction):
                assert action.help, f"dl {name}: {action.dest} has no help"
        if parser.description and " " not in name:
            # "find the operator", not "finds the operator" or "found operators".
            assert not parser.description.split()[0].endswith(("s", "ed")), f"dl {name}"


def test_missing_arguments_are_exit_code_2_and_one_sentence(
    commands: dict[str, argparse.ArgumentParser], capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("", *sorted(commands.keys() - NO_REQUIRED_ARGUMENTS)):
        code, out, err = answer(capsys, name)
        assert (code, out) == (2, ""), name
        assert len(err.splitlines()[-1]) > 20, name
        assert "Traceback" not in err, name


def test_unknown_options_and_commands_are_exit_code_2_and_named(
    commands: dict[str, argparse.ArgumentParser], capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("", *commands):
        code, out, err = answer(capsys, f"{name} --no-such-option")
        assert (code, out) == (2, ""), name
        assert "dl" in err.splitlines()[-1], name
    code, out, err = answer(capsys, "no-such-command")
    assert (code, out) == (2, "")
    assert "no-such-command" in err and "doctor" in err


def unusable(action: argparse.Action) -> str:
    """Return a value of the type of an argument that names nothing."""
    try:
        (action.type or str)(NAMELESS)  # type: ignore[operator]
    except (TypeError, ValueError, argparse.ArgumentTypeError):
        return "999999999"
    return NAMELESS


def unusable_words(parser: argparse.ArgumentParser) -> list[str]:
    """Return options and arguments, as few as the command needs, that name nothing."""
    options, places = [], []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction) or action.nargs == 0:
            continue
        value = next(iter(action.choices)) if action.choices else unusable(action)
        if action.option_strings and action.required:
            options += [action.option_strings[0], value]
        elif not action.option_strings:
            places.append(value)
    return [*options, *places]


def test_arguments_that_name_nothing_are_exit_code_2_and_one_sentence(
    commands: dict[str, argparse.ArgumentParser],
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Files, vendors, operators, studies, processes; a program that does not exist is 127."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DL_TUNING_DATABASE", str(tmp_path / "none.sqlite"))
    # `dl run` replaces its process.
    monkeypatch.setattr(os, "execve", lambda *_: sys.exit(2))
    groups = {name.partition(" ")[0] for name in commands if " " in name}
    for name in sorted(commands.keys() - groups - WITHOUT_A_FILE):
        words = unusable_words(commands[name])
        code, out, err = answer(capsys, " ".join([name, *words]))
        assert code in (2, 127) and out == "", (name, words, code, err)
        assert name == "run" or len(err.strip().splitlines()[-1]) > 20, (name, err)
        assert "Traceback" not in err, (name, err)
        junk = [word.replace(NAMELESS, "junk") for word in words]
        for at in ("junk", "junk.dlg"):
            (tmp_path / at).write_bytes(b"junk")
        if junk != words and name not in PROGRAMS:
            code, out, err = answer(capsys, " ".join([name, *junk]))
            assert code in (2, 126, 127) and out == "", (name, junk, code, err)
            assert "Traceback" not in err, (name, err)
