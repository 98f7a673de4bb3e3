"""Every ``dl`` command: help, behavior without arguments and with invalid ones, exit codes."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import pytest

from dl_core import cli

NO_REQUIRED_ARGUMENTS = {"doctor", "devices", "coverage", "tune show", "roofline"}
"""Commands that are useful without arguments."""


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
