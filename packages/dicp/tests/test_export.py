"""Exported programs become graph files that run without torch."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

import diopi_proto
import dl_graph
from agreement import assert_agree
from dicp_models import MODELS, Decoder, Encoder, tokens
from diopi_proto.host import load_vendor
from dl_core import _C
from dl_core.cli import main
from dl_dicp.export.exporter import ExportError, export
from dl_graph import Session
from dl_graph.errors import GraphError

# torch.export warns about its own code.
pytestmark = pytest.mark.filterwarnings("ignore:.*LeafSpec:FutureWarning")

WITHOUT_TORCH = """
import sys
sys.modules["torch"] = None
from dl_core.cli import main
sys.exit(main(sys.argv[1:]))
"""


Exported = tuple[torch.export.ExportedProgram, torch.nn.Module, tuple[torch.Tensor, ...]]


def library() -> Path:
    """Return the path of the library of the vendor under test."""
    return Path(_C.device_info(0)["library"])


def exported(name: str) -> Exported:
    make, inputs = MODELS[name]
    torch.manual_seed(0)
    model, given = make().eval(), inputs()
    with torch.no_grad():
        return torch.export.export(model, given), model, given


@pytest.mark.parametrize("name", MODELS)
def test_a_program_runs_without_torch(name: str, tmp_path: Path) -> None:
    program, model, inputs = exported(name)
    torch.export.save(program, tmp_path / "model.pt2")
    graph = tmp_path / "model.dlg"
    assert main(["compile", str(tmp_path / "model.pt2"), "-o", str(graph)]) == 0
    names = [str(x.arg.name) for x in program.graph_signature.input_specs if "USER" in x.kind.name]
    arrays = {key: value.numpy() for key, value in zip(names, inputs, strict=True)}
    np.savez(tmp_path / "inputs.npz", allow_pickle=False, **arrays)
    files = [str(tmp_path / "inputs.npz"), "--output", str(tmp_path / "out.npz")]
    command = [sys.executable, "-c", WITHOUT_TORCH, "run", str(graph), *files]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    with torch.no_grad():
        wanted = model(*inputs)
    with np.load(tmp_path / "out.npz") as found:
        (result,) = [torch.from_numpy(found[key]) for key in found.files]
    assert_agree(result, wanted)


def test_a_decoding_loop_keeps_its_state() -> None:
    make, _ = MODELS["llama"]
    torch.manual_seed(0)
    model = make().eval()
    inputs = (torch.tensor([[1]]), torch.tensor([0]))
    with torch.no_grad():
        graph = export(torch.export.export(model, inputs))
    word = np.array([[1]])
    wanted = torch.tensor([[1]])
    with load_vendor(library()) as vendor, Session(graph, vendor) as session:
        for place in range(6):
            found = session.run("main", {"tokens": word, "places": np.array([place])})
            (logits,) = found.values()
            with torch.no_grad():
                right = model(wanted, torch.tensor([place]))
            assert_agree(torch.from_numpy(logits), right)
            word, wanted = logits[:, -1:].argmax(-1), right[:, -1:].argmax(-1)
            assert word.tolist() == wanted.tolist()


def test_what_needs_the_host_is_refused_by_name() -> None:
    class Exponential(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.sin()

    program = torch.export.export(Exponential(), (torch.eye(3),))
    with (
        torch.dl.force_fallback("sin"),
        pytest.raises(ExportError, match="sin: it ran on the CPU"),
    ):
        export(program)


def test_sizes_that_vary_are_symbols() -> None:
    ranges = {0: torch.export.Dim("batch", max=64), 1: torch.export.Dim("length", max=16)}
    model = Encoder().eval()
    with torch.no_grad():
        program = torch.export.export(model, (tokens(3, 7),), dynamic_shapes=(ranges,))
        graph = export(program)
    assert [(s["min"], s["max"]) for s in graph.entry("main")["symbols"]] == [(2, 64), (2, 16)]
    with load_vendor(library()) as vendor, Session(graph, vendor, poison=True) as session:
        for batch, length in ((2, 5), (9, 16), (3, 2)):
            words = tokens(batch, length)
            (found,) = session.run("main", {"tokens": words.numpy()}).values()
            assert_agree(torch.from_numpy(found), model(words))
        for batch, length in ((1, 5), (2, 17)):
            with pytest.raises(GraphError, match="the graph was made for 2 to"):
                session.run("main", {"tokens": tokens(batch, length).numpy()})


LENGTHS_WITHOUT_TORCH = """
import sys
sys.modules["torch"] = None
import numpy as np
from dl_graph import Session, load
from diopi_proto.host import load_vendor
graph, library, folder = sys.argv[1:]
with load_vendor(library) as vendor, Session(load(graph), vendor) as session:
    for length in (2, 9, 16):
        words = np.load(f"{folder}/words{length}.npy")
        (found,) = session.run("main", {"tokens": words}).values()
        np.save(f"{folder}/found{length}.npy", found)
"""


def test_three_lengths_run_without_torch(tmp_path: Path) -> None:
    model = Decoder().eval()
    ranges = {0: torch.export.Dim.AUTO, 1: torch.export.Dim.AUTO}
    with torch.no_grad():
        program = torch.export.export(model, (tokens(3, 7),), dynamic_shapes=(ranges,))
        export(program).save(tmp_path / "model.dlg")
    for length in (2, 9, 16):
        np.save(tmp_path / f"words{length}.npy", tokens(length, length).numpy())
    paths = [str(path) for path in (tmp_path / "model.dlg", library(), tmp_path)]
    command = [sys.executable, "-c", LENGTHS_WITHOUT_TORCH, *paths]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for length in (2, 9, 16):
        found = torch.from_numpy(np.load(tmp_path / f"found{length}.npy"))
        assert_agree(found, model(tokens(length, length)))


def test_a_c_program_runs_three_lengths(tmp_path: Path) -> None:
    class Mixed(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.last = torch.nn.Linear(8, 4)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            x = x + torch.arange(x.shape[0])[:, None] / x.shape[0]
            return self.last((x @ x.t()).softmax(-1) @ x)

    model, rows = Mixed().eval(), torch.export.Dim("rows", max=8)
    with torch.no_grad():
        program = torch.export.export(model, (torch.ones(3, 8),), dynamic_shapes=({0: rows},))
        export(program).save(tmp_path / "model.dlg")
    libraries = (dl_graph.graph_library(), diopi_proto.host_library())
    source = Path(__file__).parents[2] / "graph" / "tests" / "fixtures" / "run_graph.c"
    folders = (diopi_proto.include_dir(), dl_graph.include_dir())
    flags = ["-std=c11", *(f"-I{folder}" for folder in folders), str(source)]
    linked = [*map(str, libraries), "-ldl", *(f"-Wl,-rpath,{x.parent}" for x in libraries)]
    output = ["-o", str(tmp_path / "run_graph")]
    subprocess.run(["gcc", *flags, *linked, *output], check=True)
    for count in (2, 5, 8):
        command = [tmp_path / "run_graph", tmp_path / "model.dlg", library(), str(count)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        found = torch.tensor([float(x) for x in done.stdout.split()]).reshape(count, 4)
        # The C program prints six digits.
        assert torch.allclose(found, model(torch.ones(count, 8)), rtol=1e-5, atol=1e-5)


def test_sizes_that_no_graph_can_follow_are_refused() -> None:
    class Positions(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.sin() * (x.shape[0] ** 0.5)

    rows = torch.export.Dim("rows", max=16)
    program = torch.export.export(Positions(), (torch.ones(5, 3),), dynamic_shapes=({0: rows},))
    with pytest.raises(ExportError, match="once for each size"):
        export(program)


def test_wrong_use_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    there = tmp_path / "model.pt2"
    assert main(["compile", str(there), "-o", str(tmp_path / "x.dlg")]) == 2
    there.write_bytes(b"nothing")
    assert main(["compile", str(there), "-o", str(tmp_path / "x.txt")]) == 2
    assert main(["compile", str(there), "-o", str(tmp_path / "x.dlg")]) == 2
    np.savez(tmp_path / "model.npz", x=np.ones(2))
    assert main(["compile", str(tmp_path / "model.npz"), "-o", str(tmp_path / "x.dlg")]) == 2
    said = capsys.readouterr().err
    assert "is not a file" in said
    assert "model.npz: it was not written by torch.export.save" in said
    assert "Traceback" not in said
    assert "has to end in .dlg" in said
    assert not (tmp_path / "x.dlg").exists()
