"""The headers compile by themselves, and every family lists the operators it defines."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from os import environ
from pathlib import Path

import pytest

from diopi_proto import include_dir as contract_dir
from dl_kernels import include_dir
from emulated import EMULATED_GPU

ROOT = include_dir() / "dl_kernels"
HEADERS = sorted(str(path.relative_to(ROOT.parent)) for path in ROOT.rglob("*.h"))
SHARED_MACROS = ROOT / "unary_operators.h"
FAMILIES = sorted(ROOT.glob("ops/*.inc"))
COMPILER = shlex.split(environ.get("CXX", "g++"))


def names_of(text: str) -> tuple[list[str], list[str]]:
    """The operators that a family's list names, and those that it defines."""
    body, _, listed = text.partition("// clang-format off")
    defined = re.findall(r"^diopiError_t ((?:diopi|dlop)\w+)\(", body, re.MULTILINE)
    # Families of equal operators are defined by macros: DL_X(Name) makes diopiName and its forms,
    # DL_X(N) may make diopiPoolNd.
    macros = re.findall(
        r"#define (DL_\w+)\((\w+)\b[^)]*\)((?:.*\\\n)*.*)",
        body + SHARED_MACROS.read_text(encoding="utf-8"),
    )
    for macro, parameter, definition in macros:
        forms = re.findall(rf"diopiError_t (diopi\w*)##{parameter}(?:##)?(\w*)\(", definition)
        for name in re.findall(rf"^{macro}\((\w+)", body, re.MULTILINE):
            defined += [f"{before}{name}{after}" for before, after in forms]
    for name in re.findall(r"^DL_UNARY_BOTH\((\w+)", body, re.MULTILINE):
        defined += [f"diopi{name}", f"diopi{name}Inp"]
    return re.findall(r"X\(((?:diopi|dlop)\w+)\)", listed), defined


@pytest.mark.skipif(shutil.which(COMPILER[0]) is None, reason="no C++ compiler")
def test_every_header_compiles_alone(tmp_path: Path) -> None:
    flags = ["-std=c++17", "-fsyntax-only", "-Wall", "-Wextra", "-Werror"]
    folders = [f"-I{include_dir()}", f"-I{contract_dir()}"]
    broken = []
    for header in HEADERS:
        source = tmp_path / "alone.cpp"
        source.write_text(f'#include "{header}"\n', encoding="utf-8")
        machine = EMULATED_GPU if "/gpu/" in header else []
        done = subprocess.run(
            [*COMPILER, *flags, *machine, *folders, str(source)],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            broken.append(f"{header}:\n{done.stderr}")
    assert not broken, "\n".join(broken)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda path: path.stem)
def test_family_lists_what_it_defines(family: Path) -> None:
    listed, defined = names_of(family.read_text(encoding="utf-8"))
    assert listed
    assert sorted(listed) == sorted(set(defined))


def test_list_is_compared_with_definitions() -> None:
    text = (
        "diopiError_t diopiAdd(x) {\ndiopiError_t diopiSub(x) {\n// clang-format off\nX(diopiAdd)"
    )
    assert names_of(text) == (["diopiAdd"], ["diopiAdd", "diopiSub"])


def test_no_kernel_uses_openmp() -> None:
    for path in ROOT.rglob("*"):
        if path.is_file():
            assert "omp" not in re.findall(r"#pragma (\w+)", path.read_text(encoding="utf-8")), path
