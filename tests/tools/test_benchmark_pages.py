"""Measurements that are kept are shown with their machine, date and command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tools import record_benchmark
from tools.site.reference import benchmarks

ROOT = Path(__file__).parents[2]
RUN = {
    "command": "tools/nox -s bench-example",
    "machine": "a processor, 2 cores, quiet",
    "date": "2026-11-30",
    "commit": "0123456789ab",
}


def test_a_page_has_the_facts_of_the_run_and_all_tables() -> None:
    measured = {"median": 0.5, "rows": [{"model": "a", "times": {"dl": 1.25, "peer": 2.5}}]}
    text = benchmarks.page("an_example", "About it.", {**RUN, "measured": measured})
    assert text.startswith("# bench-an-example\n\nAbout it.\n")
    for fact in RUN.values():
        assert fact in text
    assert "| median | 0.5 |" in text
    assert "| model | times dl | times peer |\n| --- | ---: | ---: |\n| a | 1.25 | 2.5 |" in text


def test_a_long_table_begins_with_the_highest_ratios() -> None:
    rows = [{"operator": f"op{n}", "ratio": n / 100} for n in range(100)]
    text = benchmarks.page("x", "", {**RUN, "measured": rows})
    assert f"highest ratios of {len(rows)} rows" in text
    assert text.index("| op99 |") < text.index("| op60 |")
    assert "| op59 |" not in text


def test_a_mapping_of_rows_has_its_keys_in_the_first_column() -> None:
    text = benchmarks.page("x", "", {**RUN, "measured": {"models": {"gpt2": {"dl": 1}, "vit": 2}}})
    assert "| gpt2 | 1 |  |" in text
    assert "| vit |  | 2 |" in text


def test_usage_is_left_out_of_the_description(tmp_path: Path) -> None:
    script = tmp_path / "x.py"
    script.write_text('"""First.\n\nMore\nwords.\n\n    python x.py\n"""\n')
    assert benchmarks.docstring(script) == "First.\n\nMore\nwords."


@pytest.mark.parametrize("path", sorted((ROOT / "benchmarks/results").glob("*.json")), ids=str)
def test_kept_measurements_belong_to_a_benchmark(path: Path) -> None:
    assert (ROOT / "benchmarks" / f"{path.stem}.py").is_file()
    kept = json.loads(path.read_text("utf-8"))
    assert set(kept) == {*RUN, "measured"}
    assert kept["command"].startswith(f"tools/nox -s bench-{path.stem.replace('_', '-')}")


def test_the_machine_is_named_with_its_load() -> None:
    assert record_benchmark.processor("processor : 0\nmodel name\t: A Chip 3\n") == "A Chip 3"
    assert record_benchmark.processor("CPU part\t: 0xd0c\n") == "0xd0c"
    assert "loaded by other processes (load 7)" in record_benchmark.machine(7.2, 2)
    assert "2 cores, quiet" in record_benchmark.machine(1.5, 2)


def test_a_benchmark_that_did_not_run_is_reported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["record_benchmark", "no_such_benchmark"])
    assert record_benchmark.main() == 1
    assert "no_such_benchmark.json does not exist: run the benchmark" in capsys.readouterr().err
