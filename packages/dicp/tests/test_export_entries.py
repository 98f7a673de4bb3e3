"""Several programs in one graph file, folding of parameters, and the check of the file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from agreement import assert_agree
from dicp_models import Llama, images
from diopi_proto.host import load_vendor
from dl_core import _C
from dl_core.cli import main
from dl_dicp.export.check import differing_output
from dl_dicp.export.exporter import ExportError, export, export_entries
from dl_dicp.folding import batch_norm
from dl_graph import ContractGraph, Session, load

# torch.export warns about its own code.
pytestmark = pytest.mark.filterwarnings("ignore:.*LeafSpec:FutureWarning")

PREFILL = (torch.tensor([[3, 1, 4, 1, 5]]), torch.arange(5))
DECODE = (torch.tensor([[2]]), torch.tensor([5]))


def library() -> Path:
    return Path(_C.device_info(0)["library"])


def exported(model: nn.Module, *inputs: torch.Tensor) -> torch.export.ExportedProgram:
    with torch.no_grad():
        return torch.export.export(model.eval(), inputs)


def llama(seed: int = 0) -> nn.Module:
    torch.manual_seed(seed)
    return Llama().eval()


class Normed(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.convolution = nn.Conv2d(3, 8, 3, bias=False)
        self.norm = nn.BatchNorm2d(8)
        self.register_buffer("scale", torch.rand(8, 1, 1))
        nn.init.normal_(self.norm.running_mean)
        nn.init.uniform_(self.norm.running_var, 0.5, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(self.convolution(x)) * self.scale.exp()


def operators(graph: ContractGraph) -> list[str]:
    return [name for name, _ in graph.entry("main")["calls"]]


def test_prefill_and_decode_share_weights_and_the_cache(tmp_path: Path) -> None:
    model = llama()
    for name, inputs in (("prefill", PREFILL), ("decode", DECODE)):
        torch.export.save(exported(model, *inputs), tmp_path / f"{name}.pt2")
    files = [f"{name}={tmp_path / name}.pt2" for name in ("prefill", "decode")]
    path = tmp_path / "model.dlg"
    assert main(["compile", *files, "-o", str(path), "--check"]) == 0
    graph = load(path)
    assert set(graph.entries) == {"prefill", "decode"}
    alone = export(exported(model, *DECODE))
    assert len(graph.content) < 1.5 * len(alone.content)
    with load_vendor(library()) as vendor, Session(graph, vendor) as session, torch.no_grad():
        words, places = PREFILL
        entry = "prefill"
        for place in range(5, 11):
            given = {"tokens": words.numpy(), "places": places.numpy()}
            (logits,) = session.run(entry, given).values()
            wanted = model(words, places)
            assert_agree(torch.from_numpy(logits), wanted)
            word = wanted[:, -1:].argmax(-1)
            assert logits[:, -1:].argmax(-1).tolist() == word.tolist()
            words, places, entry = word, torch.tensor([place]), "decode"


def test_weights_of_other_models_stay_apart() -> None:
    torch.manual_seed(0)
    models = {name: nn.Linear(4, 3).eval() for name in ("one", "other")}
    x = torch.randn(2, 4)
    graph = export_entries({name: exported(model, x) for name, model in models.items()})
    with load_vendor(library()) as vendor, Session(graph, vendor) as session, torch.no_grad():
        for name, model in models.items():
            (found,) = session.run(name, {"input": x.numpy()}).values()
            assert_agree(torch.from_numpy(found), model(x))


def test_states_that_begin_otherwise_are_refused() -> None:
    other = llama()
    (cache,) = [buffer for name, buffer in other.named_buffers() if name.endswith("keys")]
    cache.fill_(1)
    programs = {"prefill": exported(llama(), *PREFILL), "decode": exported(other, *DECODE)}
    with pytest.raises(ExportError, match="keys' has different initial contents in entry 'decode'"):
        export_entries(programs)


def test_a_buffer_that_another_entry_changes_is_its_state() -> None:
    class Memory(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("seen", torch.zeros(3))

    class Write(Memory):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.seen.copy_(x)
            return x + 1

    class Read(Memory):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * self.seen.exp()

    x = torch.tensor([1.0, 2.0, 3.0])
    graph = export_entries({"write": exported(Write(), x), "read": exported(Read(), x)})
    with load_vendor(library()) as vendor, Session(graph, vendor) as session:
        for seen in (torch.zeros(3), x):
            (found,) = session.run("read", {"x": x.numpy()}).values()
            assert_agree(torch.from_numpy(found), x * seen.exp())
            session.run("write", {"x": x.numpy()})


def test_what_follows_from_parameters_is_computed_when_the_graph_is_made() -> None:
    torch.manual_seed(0)
    model, x = Normed().eval(), images()
    graph = export(exported(model, x))
    assert operators(graph) == ["diopiConvolution2d", "diopiMul"]
    with load_vendor(library()) as vendor, Session(graph, vendor) as session, torch.no_grad():
        (found,) = session.run("main", {"x": x.numpy()}).values()
        assert_agree(torch.from_numpy(found), model(x))


def test_a_fold_leaves_sizes_as_free_as_they_were() -> None:
    """Torch's own rules for convolutions on the CPU ask whether a batch has 16 images."""
    model, rows = Normed().eval(), {0: torch.export.Dim("batch", min=2, max=64)}
    with torch.no_grad():
        given = torch.export.export(model, (torch.randn(3, 3, 8, 8),), dynamic_shapes=(rows,))
        graph = export(given)
        with load_vendor(library()) as vendor, Session(graph, vendor) as session:
            for count in (2, 15, 16, 64):
                x = torch.randn(count, 3, 8, 8)
                (found,) = session.run("main", {"x": x.numpy()}).values()
                assert_agree(torch.from_numpy(found), model(x))


class Sum(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.sum()


class Half(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.bfloat16() * 3


class Writes(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.add_(1)


class Counts(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("seen", torch.zeros((), dtype=torch.long))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        self.seen.add_(1)
        return self.seen.clone(), x * 2


class Twice(nn.Module):
    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        y = 1.0 - x
        return y, y


@pytest.mark.parametrize("model", [Sum, Half, Writes, Counts, Twice])
def test_the_check_passes_what_is_right(model: type[nn.Module]) -> None:
    program = exported(model(), torch.randn(3, 4))
    assert not differing_output(export(program), {"main": program}, library())


def test_a_wrong_fold_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(graph: Any, norm: Any, result: Any) -> None:
        fold(graph, norm, result)
        made = (n for n in graph.nodes if n.target is torch.ops.aten.conv2d.default)
        *_, convolution = made  # the last one replaces the old convolution
        with graph.inserting_before(convolution):
            spoilt = graph.call_function(torch.ops.aten.neg.default, (convolution.args[2],))
        spoilt.meta = dict(convolution.args[2].meta)
        convolution.update_arg(2, spoilt)

    fold = batch_norm._fold
    monkeypatch.setattr(batch_norm, "_fold", wrong)
    torch.manual_seed(0)
    graph = export(exported(Normed(), images()))
    assert "diopiBatchNorm" in operators(graph)


def test_the_check_finds_a_graph_that_gives_something_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    torch.manual_seed(0)
    right, x = nn.Linear(4, 3), torch.randn(2, 4)
    wrong = nn.Linear(4, 3)
    wrong.load_state_dict(right.state_dict())
    nn.init.constant_(wrong.bias, 0.5)
    program = exported(right, x)
    assert not differing_output(export(program), {"main": program}, library())
    assert differing_output(export(exported(wrong, x)), {"main": program}, library())

    torch.export.save(program, tmp_path / "model.pt2")
    spoilt = export(exported(wrong, x))
    monkeypatch.setattr("dl_dicp.export.exporter.export_entries", lambda *_: spoilt)
    command = ["compile", str(tmp_path / "model.pt2"), "-o", str(tmp_path / "model.dlg")]
    assert main([*command, "--check"]) == 1
    assert "of the graph differ from the program's results: main: " in capsys.readouterr().err
    assert not (tmp_path / "model.dlg").exists()


def test_wrong_use_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "model.pt2"
    torch.export.save(exported(nn.Linear(4, 3), torch.randn(2, 4)), file)
    out = ["-o", str(tmp_path / "model.dlg")]
    for given, code, said in (
        ([str(file), str(file), *out], 2, "two programs have the same name"),
        ([f"a-b={file}", *out], 2, "'a-b' is not a valid entry name"),
        ([str(file), "-o", str(tmp_path / "none" / "model.dlg")], 2, "none is not a folder"),
        ([str(file), *out, "--vendor", "none"], 2, "no device of the vendor 'none' is available"),
    ):
        assert main(["compile", *given]) == code
        assert said in capsys.readouterr().err
    vendor = _C.device_info(0)["vendor"]
    assert main(["compile", str(file), *out, "--vendor", str(vendor)]) == 0
    with load_vendor(library()) as loaded, Session(load(tmp_path / "model.dlg"), loaded) as session:
        session.run("main", {"input": np.ones((2, 4), np.float32)})
