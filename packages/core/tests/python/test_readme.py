"""The examples of the README run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from stub_wheels import Wheels

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
TRAINING, LOADING, PLUGIN = re.findall(r"```python\n(.*?)```", README, re.S)


@pytest.mark.usefixtures("dl_device")
def test_the_training_example_runs() -> None:
    exec(compile(TRAINING, "README.md", "exec"), {"__name__": "readme"})


@pytest.mark.usefixtures("dl_device")
def test_the_loading_example_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("safetensors")
    monkeypatch.chdir(tmp_path)
    exec(compile(LOADING, "README.md", "exec"), {"__name__": "readme"})
    assert capsys.readouterr().out == "dl:0\n"


def test_the_plugin_example_is_a_plugin(wheels: Wheels) -> None:
    wheels.add("dl-vendor-example", PLUGIN, name="example")
    done = wheels.run(
        """
        from dl_core.manager import PluginManager
        manager = PluginManager()
        manager.load()
        for record, vendor in manager.vendors():
            if vendor.name == "example":
                print(record.status, vendor.library.name, vendor.present())
        """
    )
    assert done.stdout.strip() == "loaded libexample.so False", done.stderr
