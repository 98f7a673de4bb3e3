"""Commands on programs with several processes, with a framework, or with recorded steps.

They start processes that import torch, for half a minute in all: ``DL_TEST_SAMPLE=1`` runs them.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from programs import dl, script
from test_bisect import PROGRAM as BISECTED

FAULT = """
import os, sys, torch
from torch.utils import _python_dispatch
from torch.utils._python_dispatch import TorchDispatchMode

FAULTY, ON = sys.argv[1:3]

class Device(TorchDispatchMode):
    # Below the tools, as a device is.
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        here = os.environ.get("RANK", "") in ON
        return result * 1.01 if str(func) == FAULTY and here else result

above = [_python_dispatch._pop_mode() for _ in range(torch._C._len_torch_dispatch_stack())]
Device().__enter__()
for mode in reversed(above):
    _python_dispatch._push_mode(mode)
torch.manual_seed(0)
"""
RANKS = (
    FAULT
    + """
import torch.distributed as dist

dist.init_process_group("gloo")
layer = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.GELU(), torch.nn.Linear(64, 1))
model = torch.nn.parallel.DistributedDataParallel(layer)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x = torch.randn(64, 64)
for step in range(6):
    optimizer.zero_grad()
    if dist.get_rank() == 1:
        # One rank has more to do, and calls operators that the other rank does not call.
        for _ in range(200):
            x = (x @ torch.eye(64)).clone()
        torch.sinh(x[:1])
    model(x).square().mean().backward()
    optimizer.step()
dist.destroy_process_group()
"""
)
TRAINER = (
    FAULT
    + """
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments

sizes = dict(hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32)
model = BertForSequenceClassification(BertConfig(vocab_size=50, num_labels=2, **sizes))
rows = [
    {"input_ids": torch.randint(0, 50, (8,)), "labels": torch.tensor(at % 2)} for at in range(12)
]
arguments = TrainingArguments(
    output_dir=os.environ["DL_TOOLS_OUTPUT"] + "/trainer",
    use_cpu=True,
    max_steps=3,
    per_device_train_batch_size=4,
    report_to=[],
    save_strategy="no",
)
Trainer(model=model, args=arguments, train_dataset=rows).train()
"""
)
LAUNCH = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2")


def test_diagnose_says_on_which_ranks(tmp_path: Path) -> None:
    program = (sys.executable, *LAUNCH, script(tmp_path, RANKS))
    command = ("diagnose", "--device", "cpu", "--quick", "--", *program)
    done = dl(tmp_path, *command, "aten.gelu.default", "1", OMP_NUM_THREADS="1")
    assert done.returncode == 1, done.stdout + done.stderr
    assert done.stdout.startswith("verdict: aten.gelu.default is wrong on this device.")
    assert "on rank 1" in done.stdout
    page = Path(done.stdout.rpartition("page: ")[2].strip()).read_text(encoding="utf-8")
    assert "on rank 1" in page and "2 processes" in page
    both = dl(tmp_path, *command, "none", "01", OMP_NUM_THREADS="1")
    assert both.returncode == 0 and "No operator was found" in both.stdout, both.stderr


def test_tools_put_ranks_together(tmp_path: Path) -> None:
    program = (sys.executable, *LAUNCH, script(tmp_path, RANKS), "aten.gelu.default", "1")
    options = ("--device", "cpu", "--set", "OP_TIME_MEASURE_BUDGET=off")
    done = dl(
        tmp_path, "tool", "compare,time,overflow", *options, "--", *program, OMP_NUM_THREADS="1"
    )
    said = done.stderr
    assert done.returncode == 1, said
    assert "in 2 processes" in said
    # Columns of the table: name, comparisons, failures, units, ranks.
    wrong = [x.split(maxsplit=4) for x in said.splitlines() if x.startswith("aten.gelu.default ")]
    assert [x[4].strip() for x in wrong if x[1].isdigit()] == ["rank 1"]
    assert "not on all ranks: rank 1 also called" in said and "aten.sinh.default" in said
    # The ranks wait for each other, so that their steps are equally long, but one has more work.
    lines = said.splitlines()
    at = next(at for at, x in enumerate(lines) if "ms of operators" in x)
    rows = sorted(x.split() for x in lines[at + 1 : at + 3])
    assert [x[:2] for x in rows] == [["rank", "0"], ["rank", "1"]]
    assert float(rows[1][4]) > 2 * float(rows[0][4])
    # The launcher calls no operator, so it has no row.
    assert not [x for x in lines if x.split()[:1] == ["process"] and x.split()[1].isdigit()]
    pages = list((tmp_path / "results").rglob("op_autocompare_ranks_*.html"))
    assert len(pages) == 1 and "wrong on" in pages[0].read_text(encoding="utf-8")


@pytest.mark.parametrize("faulty", ["aten.gelu.default", "none"])
def test_diagnose_under_a_trainer(tmp_path: Path, faulty: str) -> None:
    program = (sys.executable, script(tmp_path, TRAINER), faulty, "")
    done = dl(tmp_path, "diagnose", "--device", "cpu", "--", *program)
    if faulty == "none":
        assert done.returncode == 0 and "No operator was found" in done.stdout, done.stderr
    else:
        assert done.returncode == 1, done.stdout + done.stderr
        assert done.stdout.startswith(f"verdict: {faulty} is wrong on this device.")
        # The fault is a mode of the program, which a replay does not enter.
        assert "the first wrong call is right" in done.stdout


RECORDING = BISECTED.replace(
    "for step in range(3):\n",
    "from dl_optools.one_iter.recording import OneIter\nwith OneIter(layer, 'a-step', rank=0):\n",
).replace("print(", "# print(")


def test_a_tensor_of_a_recorded_step_may_be_the_metric(tmp_path: Path) -> None:
    program, state = script(tmp_path, RECORDING), tmp_path / "state.json"
    options = ("--device", "cpu", "--tolerance", "1e-5", "--state", str(state), "--no-capture")
    rest = ("--", sys.executable, program)
    done = dl(tmp_path, "bisect", "--tensor", "weight gradient 0", *options, *rest)
    assert done.returncode == 0, done.stderr
    found = json.loads(state.read_text())
    assert found["verdict"] == [["aten.gelu_backward.default"]]
    assert "apart, allowed 1e-05" in done.stdout
    # The program's own folder is left alone, and the step on the CPU remains as the reference.
    assert not (tmp_path / "a-step").exists()
    kept = [x.parent.parent.name for x in (tmp_path / "state_runs").glob("*.step/a-step/rank0")]
    assert kept == ["run_002.step"]
