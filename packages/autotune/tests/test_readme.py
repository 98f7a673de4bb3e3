"""README's example does what it says."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path


def test_the_example_prints_what_it_says() -> None:
    text = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    (said,) = re.findall(r"print\(.*\)  # (.*)", example)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(example, "README.md", "exec"), {})
    assert printed.getvalue().strip() == said
