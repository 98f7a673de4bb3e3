from pathlib import Path

import pytest

from dl_core import config


def test_nothing_set_gives_the_defaults() -> None:
    assert config.read({}) == config.Config()


def test_vendors_keep_their_order_and_lose_repeats() -> None:
    assert config.read({"DL_VENDORS": "cuda, CPU,cuda,"}).vendors == ("cuda", "cpu")


@pytest.mark.parametrize("name", [variable.name for variable in config.VARIABLES])
def test_an_empty_value_counts_as_not_set(name: str) -> None:
    assert config.read({name: "  "}) == config.Config()


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("DL_FALLBACK", "never", "allow, warn, error"),
        ("DL_VENDORS", "cuda;cpu", "vendor names"),
        ("DL_DISABLE", "../x", "plugin names"),
        ("DL_FORCE_FALLBACK", "add.*,(", "regular expressions"),
        ("DL_PROBE_TIMEOUT", "soon", "seconds"),
        ("DL_PROBE_TIMEOUT", "0", "above 0"),
        ("DIPU_LOG_FALLBACK_INFO", "maybe", "0, 1"),
        ("DIPU_FORCE_FALLBACK_OPS_LIST", "*", "regular expressions"),
    ],
)
def test_a_bad_value_is_one_problem_that_names_everything(
    name: str, value: str, allowed: str
) -> None:
    read = config.read({name: value})
    (problem,) = read.problems
    assert name in problem and repr(value) in problem and allowed in problem
    assert config.Config(sources=read.sources, problems=read.problems) == read


def test_an_invalid_value_does_not_affect_other_settings() -> None:
    read = config.read({"DL_FALLBACK": "x", "DL_VENDORS": "cpu"})
    assert read.vendors == ("cpu",) and read.fallback == "allow" and len(read.problems) == 1


def test_dipu_names_are_understood() -> None:
    read = config.read(
        {"DIPU_FORCE_FALLBACK_OPS_LIST": r"add.out,.*\.Scalar", "DIPU_LOG_FALLBACK_INFO": "1"}
    )
    assert read.force_fallback == ("add.out", r".*\.Scalar")
    assert read.fallback == "warn"


def test_our_name_wins_over_the_alias() -> None:
    environ = {"DL_FORCE_FALLBACK": "mul", "DIPU_FORCE_FALLBACK_OPS_LIST": "add"}
    assert config.read(environ).force_fallback == ("mul",)


def test_the_documents_list_every_variable() -> None:
    page = (Path(__file__).parents[2] / "docs" / "settings.md").read_text(encoding="utf-8")
    for variable in config.VARIABLES:
        assert f"`{variable.name}`" in page
        for alias in (variable.alias, *variable.others):
            assert alias is None or f"`{alias.name}`" in page


@pytest.mark.parametrize(
    ("name", "value", "field", "parsed"),
    [
        ("DIPU_MEM_CHECK", "1", "memory_check", 1),
        ("DIPU_MEM_CHECK_ENABLE_BACKTRACE", "1", "memory_check_stacks", True),
        ("DIPU_MOCK_CUDA", "True", "mock_cuda", True),
        ("DIPU_MOCK_CUDA", "False", "mock_cuda", False),
        ("DIPU_WITH_DIOPI_LIBRARY", "DISABLE", "force_fallback", (".*",)),
        ("DIPU_WITH_DIOPI_LIBRARY", "INTERNAL", "force_fallback", ()),
    ],
)
def test_documented_variables_of_dipu_are_aliases(
    name: str, value: str, field: str, parsed: object
) -> None:
    read = config.read({name: value})
    assert getattr(read, field) == parsed
    assert read.problems == () and dict(read.sources) == {name: value}


def test_a_library_of_dipu_cannot_be_chosen() -> None:
    (problem,) = config.read({"DIPU_WITH_DIOPI_LIBRARY": "/opt/diopi"}).problems
    assert "DIPU_WITH_DIOPI_LIBRARY='/opt/diopi'" in problem and "DL_VENDORS" in problem
