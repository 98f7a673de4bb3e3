"""The examples of the README and of the documents run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from stub_wheels import Wheels

PACKAGE = Path(__file__).parents[2]
DOCUMENTS = [PACKAGE / "README.md", *sorted(PACKAGE.glob("docs/*.md"))]
TEXT = "\n".join(path.read_text(encoding="utf-8") for path in DOCUMENTS)
EXAMPLES = re.findall(r"```python\n(.*?)```", TEXT, re.S)


def example(part: str) -> str:
    """Return the example that contains these words."""
    (found,) = (text for text in EXAMPLES if part in text)
    return str(found)


TRAINING, LOADING = example("optimizer.step"), example("safetensors")
PLUGIN, MODES = example("VendorDescriptor"), example("autocompare")
GROUP, PROFILE = example("init_process_group"), example("export_chrome_trace")


@pytest.mark.usefixtures("dl_device")
def test_the_training_example_runs() -> None:
    exec(compile(TRAINING, "README.md", "exec"), {"__name__": "readme"})


@pytest.mark.usefixtures("dl_device")
def test_the_example_of_a_group_runs(capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(GROUP, "README.md", "exec"), {"__name__": "readme"})
    assert capsys.readouterr().out == "dl:dicl\ntensor([1., 1., 1., 1.], device='dl:0')\n"


@pytest.mark.usefixtures("dl_device")
def test_the_modes_example_runs(capfd: pytest.CaptureFixture[str]) -> None:
    exec(compile(MODES, "README.md", "exec"), {"__name__": "readme"})
    out, err = capfd.readouterr()
    assert out == "[] 3\n" and "]:mul.Tensor" in err and "mul.Tensor: other:3" in err


@pytest.mark.usefixtures("dl_device")
def test_the_profiler_example_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(PROFILE, "README.md", "exec"), {"__name__": "readme"})
    assert "diopiRelu" in capsys.readouterr().out
    assert '"ac2g"' in (tmp_path / "trace.json").read_text(encoding="utf-8")


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
