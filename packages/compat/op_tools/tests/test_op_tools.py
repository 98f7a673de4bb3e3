from __future__ import annotations

import importlib.metadata
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import dl_optools
import op_tools
from dl_optools.features import TOOLS

THEIRS = "WHOSE = 'theirs'\n"


def printed(code: str, *path: Path) -> str:
    """Return the output of a new interpreter with directories at the front of its path."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([*map(str, path), *filter(None, sys.path)])}
    command = [sys.executable, "-c", code]
    return subprocess.run(command, env=env, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    """Return a directory with the original as a package."""
    package = tmp_path / "op_tools"
    package.mkdir()
    (package / "__init__.py").write_text(THEIRS)
    (package / "process_monitor.py").write_text(THEIRS)
    return tmp_path


def test_every_tool_has_its_name_of_old() -> None:
    homes = {home.partition(":")[2] for home in TOOLS.values()}
    assert set(op_tools.__all__) == {*homes, "apply_feature", "OpDispatchWatch"}
    assert set(dir(op_tools)) >= set(op_tools.__all__)


@pytest.mark.parametrize("name", ["OpObserve", "OpDtypeCast", "OpOverflowCheck"])
def test_tools_are_the_classes_of_dl_optools(name: str) -> None:
    assert getattr(op_tools, name) is getattr(dl_optools, name)


def test_the_old_name_of_observing_is_observing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(vars(dl_optools), "OpObserve", object())
    assert op_tools.OpDispatchWatch is op_tools.OpObserve


def test_a_script_of_old_runs() -> None:
    x = torch.ones(3, requires_grad=True)
    tool = op_tools.OpFallback(device="cpu")
    tool.start()
    torch.add(x, 1).sum().backward()
    tool.end()
    assert x.grad is not None and x.grad.tolist() == [1, 1, 1]


def test_unknown_names_say_what_there_is() -> None:
    with pytest.raises(AttributeError, match=r"no attribute 'OpMagic'; expected .*OpCapture"):
        op_tools.OpMagic  # noqa: B018  (reading it is the test)


def test_importing_it_imports_no_torch() -> None:
    assert printed("import sys, op_tools; print('torch' in sys.modules)") == "False\n"


def test_it_is_one_module_whose_file_no_package_has() -> None:
    assert Path(str(op_tools.__file__)).name == "op_tools.py"
    # Its submodules are elsewhere: they must not mix with submodules of a package `op_tools`.
    assert [Path(x).name for x in op_tools.__path__] == ["op_tools_modules"]


def test_the_wheel_holds_nothing_else() -> None:
    try:
        files = importlib.metadata.files("dl-optools-compat") or []
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("dl-optools-compat is not installed as a wheel")
    ours = [str(x) for x in files if ".dist-info" not in str(x) and "__pycache__" not in str(x)]
    assert {x.partition("/")[0] for x in ours} == {"op_tools.py", "op_tools_modules"}


def test_a_package_of_that_name_on_the_path_wins(theirs: Path) -> None:
    assert printed("import op_tools; print(op_tools.WHOSE)", theirs) == "theirs\n"


def test_a_package_in_the_same_place_wins_and_is_whole(theirs: Path) -> None:
    before = {path: path.read_text() for path in theirs.rglob("*.py")}
    shutil.copy(str(op_tools.__file__), theirs)
    assert {path: path.read_text() for path in before} == before
    code = "import op_tools, op_tools.process_monitor as p; print(op_tools.WHOSE, p.WHOSE)"
    assert printed(code, theirs) == "theirs theirs\n"


def test_installing_dl_optools_alone_brings_no_op_tools() -> None:
    source = Path(str(dl_optools.__file__)).parent.parent
    assert not (source / "op_tools").exists()
    if (source / "op_tools.py").exists():
        owner = importlib.metadata.packages_distributions().get("op_tools", [])
        assert owner == ["dl-optools-compat"]


@pytest.mark.parametrize(
    ("command", "said"),
    [("process_monitor", "--interval"), ("run_op_from_data", "--only_run_forward")],
)
def test_the_commands_of_its_documentation(command: str, said: str) -> None:
    path = os.pathsep.join(filter(None, sys.path))
    done = subprocess.run(
        [sys.executable, "-m", f"op_tools.{command}", "--help"],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    assert said in done.stdout


def test_containers_are_traversed_as_in_scripts_for_ditorch() -> None:
    from op_tools.utils import traverse_container

    x = torch.ones(2)
    found = list(traverse_container(({"a": [x, 1], "b": ()}, "text", {2})))
    assert found[0] is x and found[1:] == [1, "text", 2]
    assert list(traverse_container(x)) == [x]
