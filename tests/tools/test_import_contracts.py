"""The check of imports inside packages: cycles, layers, and the definition of an import."""

from __future__ import annotations

from pathlib import Path

from tools.import_contracts import cycles, imports_of, problems, upward


def package(root: Path, **modules: str) -> Path:
    folder = root / "packages" / "toy" / "src" / "toy"
    folder.mkdir(parents=True)
    for name, text in {"__init__": "", **modules}.items():
        path = folder / f"{name.replace('__in__', '/')}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return folder


def test_imports_in_functions_and_for_type_checkers_count(tmp_path: Path) -> None:
    folder = package(
        tmp_path,
        a="from . import b\nfrom toy.part import c\nimport os",
        b="def use():\n    from .part.c import thing\n",
        part__in____init__="",
        part__in__c="if TYPE_CHECKING:\n    from ..a import x\n",
    )
    imports = imports_of(folder)
    assert imports == {
        "": set(),
        "a": {"b", "part.c"},
        "b": {"part.c"},
        "part": set(),
        "part.c": {"a"},
    }
    assert cycles(imports) == [["a", "b", "part.c"]]


def test_a_layer_may_not_import_one_above() -> None:
    imports = {"": {"low"}, "low": {"part.high"}, "part": set(), "part.high": {"low"}, "new": set()}
    assert list(upward(imports, [["part"], ["low"]])) == [
        "low may not import part.high, which is in a layer above",
        "new is in no layer",
    ]
    assert not list(upward(imports, [["part", "low", "new"]]))


def test_importing_a_compiled_module_is_not_importing_its_package(tmp_path: Path) -> None:
    folder = package(tmp_path, a="from toy import _C", b="from toy import version")
    (folder / "_C.pyi").write_text("def call() -> None: ...\n")
    assert imports_of(folder) == {"": set(), "_C": set(), "a": {"_C"}, "b": {""}}


def test_every_cycle_is_a_problem(tmp_path: Path) -> None:
    package(tmp_path, a="from . import b", b="from . import a")
    assert list(problems(tmp_path, {})) == ["toy: import cycle of a, b"]
