"""Profiles with stacks name the code that ran, even if it no longer exists when the events are
read.
"""

from __future__ import annotations

from pathlib import Path

from .processes import RUNS_ONCE, output

pytestmark = RUNS_ONCE

# The memory of earlier names is filled with bytes that are not UTF-8.
PREPARE = """
import json, sys, types, torch
from torch.profiler import profile, ProfilerActivity

x = torch.ones(4, device="dl")

def overwrite():
    return [bytes([0xC0 + number % 16]) * (30 + number % 80) for number in range(20000)]

def profiled(work):
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.DL], with_stack=True) as found:
        work()
        junk = overwrite()
    names = {event.name for event in found.events()}
    found.export_chrome_trace(PATH)
    with open(PATH, encoding="utf-8") as file:
        json.load(file)
    return names
"""


def run(folder: Path, code: str) -> None:
    prepared = f"PATH = {str(folder / 'trace.json')!r}\n{PREPARE}"
    output(prepared + code, DL_VENDORS="cpu", PYTHONPATH=str(folder))


def test_functions_of_a_moment_keep_their_names(tmp_path: Path) -> None:
    code = """
def work(turn):
    for index in range(40):
        space = {"x": x}
        text = f"def made_{turn}_{index}(): return x + 1"
        exec(compile(text, f"/made/file_{turn}_{index}.py", "exec"), space)
        space.pop(f"made_{turn}_{index}")()
        code = compile("x + 2", "template", "eval").replace(
            co_name=f"replaced_{turn}_{index}", co_filename=f"/replaced/file_{turn}_{index}.py"
        )
        eval(code, space)

for turn in range(4):
    names = profiled(lambda: work(turn))
    for index in range(40):
        for kind in ("made", "replaced"):
            name = f"{kind}_{turn}_{index}"
            assert any(name in each and f"/{kind}/file_{turn}_{index}.py" in each for each in names)
"""
    run(tmp_path, code)


def test_modules_that_are_imported_in_a_profile_keep_their_names(tmp_path: Path) -> None:
    for number in range(30):
        text = f"def set_up_{number}(): return {number}\n\nNUMBER = set_up_{number}()\n"
        tmp_path.joinpath(f"passing_{number}.py").write_text(f"{text}del set_up_{number}\n")
    code = """
import importlib

def work():
    for number in range(30):
        x.add_(importlib.import_module(f"passing_{number}").NUMBER)
        del sys.modules[f"passing_{number}"]

names = profiled(work)
for number in range(30):
    assert any(f"set_up_{number}" in each for each in names)
"""
    run(tmp_path, code)


def test_the_first_training_steps_of_a_process_are_profiled_in_every_turn(tmp_path: Path) -> None:
    code = """
model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.GELU(), torch.nn.Linear(8, 2)).to("dl")
optimizer = torch.optim.AdamW(model.parameters())

def work():
    model(x).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()

for _ in range(6):
    assert "aten::addmm" in profiled(work)
"""
    run(tmp_path, code)
