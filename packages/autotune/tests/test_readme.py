"""The examples in README.md and in docs/ work as described."""

from __future__ import annotations

import contextlib
import io
import re
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PACKAGE = ROOT / "packages" / "autotune"
EXAMPLES = [
    example
    for path in (PACKAGE / "README.md", *sorted((PACKAGE / "docs").glob("*.md")))
    for example in re.findall(r"```python\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL)
]


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_prints_what_it_says(
    example: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "load_vendor" in example and shutil.which("c++") is None:
        pytest.skip("there is no compiler of C++")
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROOT / "examples" / "tune_gemm" / "gemm.cpp", tmp_path)
    (said,) = re.findall(r"print\(.*\)  # (.*)", example)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(example, "README.md", "exec"), {})
    assert printed.getvalue().strip() == said
