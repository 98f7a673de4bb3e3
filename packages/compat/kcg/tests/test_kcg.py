"""DeepGen's interface: names, files, correct kernels, and models that use them."""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

import kcg

pytestmark = pytest.mark.skipif(
    not any(map(shutil.which, ("c++", "g++", "clang++"))), reason="needs a C++ compiler"
)
ROOT = Path(__file__).parents[4]
EXAMPLE = ROOT / "examples" / "tune_kcg"
names, gemm, measuring, injector, files = (
    importlib.import_module(f"kcg.{name}")
    for name in ("names", "gemm", "measuring", "TorchInjector", "files")
)
DOCUMENTED = (
    "kcg_MM_bM1024N1024K1024isAT1W64_BM32BN32BK8TM4TN4BLY1BLX1WLY8WLX8GLWA4GLWB4BSWM2BSWN2"
    "WSWM1WSWN2LSU1Map4GSW0UN8RP0SP0LC1RC0"
)
SMALL = "kcg_MM_bM64N32K32isAT0W4_BM16BN32BK16TM4TN8BLY2BLX2WLY2WLX2GLWA1GLWB1BSWM1BSWN1" + (
    "WSWM1WSWN1LSU1Map3GSW0UN0RP0SP0LC0RC0"
)


@pytest.fixture(autouse=True)
def nothing_registered() -> Iterator[None]:
    """Clear kernels and counts, which are global."""
    kcg.OpProxy.clear()
    yield
    kcg.OpProxy.clear()


def test_a_name_is_a_configuration() -> None:
    config = names.config_of(DOCUMENTED)
    assert (config["BATCH_SIZE"], config["M_SIZE"], config["WARP_SCATTER_WIDTH_N"]) == (1, 1024, 2)
    assert names.name_of(config) == DOCUMENTED
    batched = DOCUMENTED.replace("_bM", "_b12M")
    assert names.config_of(batched)["BATCH_SIZE"] == 12
    assert names.name_of(names.config_of(batched)) == batched


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (DOCUMENTED[:-1], "is not a kernel's name"),
        (DOCUMENTED.replace("BM32", "BM64"), "threads cover a block's rows"),
        (DOCUMENTED.replace("N1024", "N1000"), "blocks cover the columns"),
        (DOCUMENTED.replace("TM4", "TM0"), "THREAD_SIZE_M cannot be 0"),
    ],
)
def test_invalid_kernel_names_are_reported(name: str, message: str) -> None:
    with pytest.raises(kcg.KcgError, match=message):
        names.config_of(name)


@pytest.mark.parametrize(
    "changes",
    [{}, {"isAT0": "isAT1", "UN0": "UN4"}, {"LSU1": "LSU2", "Map3": "Map0"}, {"_bM": "_b3M"}],
)
def test_kernels_are_right(changes: dict[str, str]) -> None:
    name = SMALL
    for before, after in changes.items():
        name = name.replace(before, after)
    kernel = gemm.Gemm(names.config_of(name), 0)
    rng = np.random.default_rng(0)
    a = rng.standard_normal((kernel.problem.batch, 64, 32), dtype=np.float32)
    b = rng.standard_normal((kernel.problem.batch, 32, 32), dtype=np.float32)
    given = torch.from_numpy(a).to("dl"), torch.from_numpy(b).to("dl")
    measuring.judge(kernel, a, b, given)


def test_wrong_kernels_are_seen() -> None:
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal((1, 32, 32), dtype=np.float32) for _ in range(2))
    given = torch.from_numpy(a).to("dl"), torch.from_numpy(b).to("dl")

    def right(a: torch.Tensor, b: torch.Tensor, out: torch.Tensor) -> None:
        out.copy_(torch.matmul(a, b))

    def off(a: torch.Tensor, b: torch.Tensor, out: torch.Tensor) -> None:
        right(a, b, out)
        out[0, 3, 4] += 1e-3

    def write_outside(a: torch.Tensor, b: torch.Tensor, out: torch.Tensor) -> None:
        right(a, b, out)
        out.as_strided((1,), (1,), out.storage_offset() + out.numel()).zero_()

    def spoiling(a: torch.Tensor, b: torch.Tensor, out: torch.Tensor) -> None:
        right(a, b, out)
        b[0, 0, 0] = 5

    measuring.judge(right, a, b, given)
    for kernel, message in (
        (off, "the product is wrong"),
        (write_outside, "writes outside"),
        (spoiling, "changes its input B"),
    ):
        with pytest.raises(Exception, match=message):
            measuring.judge(kernel, a, b, given)


def test_the_proxy_computes_what_torch_does(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "kernels.json"
    entry = {"type": "matmul", "kernelName": SMALL, "pklpath": ""}
    file.write_text(json.dumps({"kernels": [entry]}))
    assert kcg.registerPreCompiledKernelByJson(str(file), 0) == 1
    a, b = torch.rand(4, 16, 32), torch.rand(32, 32)
    expected, mine = a @ b, a.to("dl").transpose(0, 1).contiguous().transpose(0, 1)
    product = kcg.OpProxy.f_matmul(mine, b.to("dl"))
    assert torch.allclose(product.cpu(), expected, atol=1e-5)
    weight = b.to("dl").requires_grad_()
    kcg.OpProxy.f_matmul(mine, weight).sum().backward()
    assert weight.grad is not None
    assert kcg.OpProxy.GetOpCallCounts() == {"MatmulOp": 1}
    # Only the kernel may compute.
    monkeypatch.setattr(torch, "matmul", lambda *_: pytest.fail("torch.matmul was called"))
    kcg.OpProxy.f_matmul(mine, b.to("dl"))


def test_attention_is_that_of_torch() -> None:
    q, k, v = (torch.rand(2, 3, 8, 4, device="dl") for _ in range(3))
    mine = kcg.OpProxy.f_attention(q, k, v)
    expected = torch.nn.functional.scaled_dot_product_attention(q.cpu(), k.cpu(), v.cpu())
    assert torch.allclose(mine.cpu(), expected, atol=1e-5)


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ("[]", "is not a JSON object"),
        ("{}", "has no list 'kernels'"),
        ('{"kernels": [{}]}', r"kernels\[0\] has no text 'kernelName'"),
        ('{"kernels": [{"type": "attention", "kernelName": ""}]}', "only 'matmul' is"),
        (
            f'{{"kernels": [{{"type": "matmul", "kernelName": "{SMALL}", "pklpath": "a.pkl"}}]}}',
            "pklpath has to be empty",
        ),
        ('{"kernels": [], "pklpath": "a.pkl"}', "pklpath has to be empty"),
        (
            '{"kernels": [{"type": "matmul", "kernelName": "mine"}]}',
            r"not a kernel's name.*kernels\[0\]",
        ),
    ],
)
def test_files_of_kernels_with_mistakes(tmp_path: Path, document: str, message: str) -> None:
    file = tmp_path / "kernels.json"
    file.write_text(document)
    with pytest.raises(kcg.KcgError, match=message):
        kcg.registerPreCompiledKernelByJson(str(file), 0)


def test_results_replace_no_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(kcg.KcgError, match=r"pipe cannot be written: it is not a regular file"):
        files.write_json(tmp_path / "pipe", {})
    assert [path.is_fifo() for path in tmp_path.iterdir()] == [True]


def test_devices_that_are_not_there() -> None:
    with pytest.raises(kcg.KcgError, match=r"device 7 does not exist; the number is \d+"):
        kcg.DeviceInfo.init_cuda([0, 7])


def test_the_tester_measures_and_says_what_it_did(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # One fresh process suffices here, and each one imports torch.
    monkeypatch.setattr(importlib.import_module("kcg.searching"), "_PROCESSES", 1)
    tester = importlib.import_module("kcg.SimpleLocalTester")
    result, config = tmp_path / "result.json", str(EXAMPLE / "GEMM_cfg_32.json")
    assert tester.main([config, str(result), "4", "2", "0", "1e-6"]) == 0
    lines = capsys.readouterr().out.splitlines()
    # The first of the two has a speedup of 1e-6 or more, which ends the search.
    assert [line.partition(" ")[0] for line in lines[1:]] == ["No.4:", "best:", "measured"]
    (row,) = json.loads(result.read_text())["testResult"]
    assert {"name", "speedup", "time", "time_base", "verdict", "interval"} == set(row)
    assert row["interval"][0] <= row["speedup"] <= row["interval"][1]
    assert names.config_of(row["name"])["M_SIZE"] == 128


def test_tflops_end_a_search_only_if_they_are_checked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.import_module("kcg.searching"), "_PROCESSES", 1)
    tester = importlib.import_module("kcg.SimpleLocalTester")
    config, result = str(EXAMPLE / "GEMM_cfg_32.json"), str(tmp_path / "result.json")
    measured = []
    for check in ("0", "1"):
        words = [config, result, "4", "2", check, "0", "--target-tflops", "1e-9"]
        assert tester.main(words) == 0
        measured.append(capsys.readouterr().out.count("TFLOPS, kcg_MM_"))
    assert measured == [2, 1]
    with pytest.raises(SystemExit):
        tester.main([config, result, "4", "2", "1.5", "0"])
    assert "1.5 is not 0 or 1; --target-tflops sets a threshold" in capsys.readouterr().err


def test_configurations_of_models_are_supplied_and_found_by_name() -> None:
    tester = importlib.import_module("kcg.SimpleLocalTester")
    deepgen = importlib.import_module("dl_autotune.spaces.deepgen")
    paths = tester.supplied()
    assert len(paths) >= 19
    for path in paths:
        values = json.loads(path.read_text(encoding="utf-8"))
        sizes = [values[key][0] for key in ("BATCH_SIZE", "M_SIZE", "N_SIZE", "K_SIZE")]
        assert path.name == "mm-b{}-{}-{}-{}.json".format(*sizes)
        assert tester._find(Path(path.name)) == path
    # The spaces differ only in sizes.
    for name in ("mm-b12-512-512-64.json", "mm-b1-2048-11008-4096.json"):
        assert deepgen.read_deepgen(tester._find(Path(name))).size > 1000


def test_the_names_of_the_guide_exist() -> None:
    code = """
from kcg.TorchInjector import *
from kcg.ModelUtils import *
import torch

g_FmmBaseline = triton_matmul.bmm
PathManager.init(clearPkl=True, clearCache=True, clearTmp=True, clearDump=True)
DeviceInfo.init_cuda([0])
a, b = torch.rand(2, 8, 16, device="dl"), torch.rand(2, 16, 4, device="dl")
assert torch.equal(g_FmmBaseline(a, b), torch.matmul(a, b))
layer = CustomLinear(16, 4, bias=False, f_mm=g_FmmBaseline).to(0)
assert layer(a).device == torch.device("dl", torch.dl.current_device())
print(OpProxy.GetOpCallCounts().get(matmul.MatmulOp.__name__, 0))
"""
    path = os.pathsep.join(filter(None, sys.path))
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": path, "DL_VENDORS": "cpu"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "0\n"), done.stderr


def test_the_first_device_becomes_the_current_one(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen: list[int] = []
    utils = importlib.import_module("kcg.ModelUtils")
    monkeypatch.setattr(utils, "dialect", lambda device: None)
    monkeypatch.setattr(torch.dl, "set_device", chosen.append)
    kcg.DeviceInfo.init_cuda([3, 1])
    assert chosen == [3]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("none.json", "r", "0", "1", "0", "0"), r"none\.json cannot be read"),
        ((str(EXAMPLE / "GEMM_cfg_32.json"), "r", "999999", "1", "0", "0"), "START 999999 exceeds"),
        (
            (*(str(EXAMPLE / "GEMM_cfg_32.json"), "r", "1", "1", "0", "0"), "--strategy=random"),
            "START has to be 0",
        ),
    ],
)
def test_the_tester_refuses(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], message: str
) -> None:
    tester = importlib.import_module("kcg.SimpleLocalTester")
    assert tester.main(words) == 2
    assert re.search(message, capsys.readouterr().err)


@pytest.mark.usefixtures("_all_are_faster")
def test_a_model_is_collected_tuned_and_kept(tmp_path: Path) -> None:
    a, b, odd = (torch.rand(shape, device="dl") for shape in ((2, 16, 16), (16, 32), (16, 7)))

    def run() -> None:
        kcg.OpProxy.f_matmul(a, odd)
        kcg.OpProxy.f_matmul(a, b)

    problem, other = gemm.Problem(1, 32, 32, 16), gemm.Problem(1, 32, 7, 16)
    assert kcg.compile_model(0, run, True) == [(problem, None), (other, None)]

    kept = tmp_path / "kept.json"
    (tuned, best), (_, none) = kcg.compile_model(0, run, evaluations=2, save=str(kept))
    assert (tuned, none) == (problem, None)
    assert best is not None
    before = torch.matmul(a, b)
    assert torch.allclose(kcg.OpProxy.f_matmul(a, b), before, atol=1e-5)
    assert kcg.OpProxy.GetOpCallCounts() == {"MatmulOp": 1}
    kcg.OpProxy.clear()
    assert kcg.registerPreCompiledKernelByJson(str(kept), 0) == 1
    with pytest.raises(kcg.KcgError, match="Tensor cannot be called: pass a function that runs"):
        kcg.compile_model(0, before)


def test_weights_are_fixed_and_differ() -> None:
    one, two = kcg.CustomLinear(8, 16), kcg.CustomLinear(8, 16)
    assert torch.equal(one.weight, two.weight)
    assert len(one.weight.unique()) == 128
    x = torch.rand(3, 8)
    assert torch.allclose(one(x), x @ one.weight + one.bias)
    table = kcg.create_fixed_embedding(10, 4).weight
    assert torch.equal(table, kcg.create_fixed_embedding(10, 4).weight)
    assert len(table.unique()) == 40
    assert kcg.compare_with_error(x, x) == (0, 0.0)
    assert kcg.compare_with_error(x, x + torch.eye(3, 8))[0] == 3


def test_the_readme_says_what_comes_of_its_example(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    (said,) = re.findall(r"print\(.*\)  # (.*)", example)
    monkeypatch.chdir(ROOT)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(example, "README.md", "exec"), {})
    assert printed.getvalue().strip() == said


def test_importing_it_does_not_import_torch() -> None:
    code = "import sys, kcg; sys.exit('torch' in sys.modules)"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run([sys.executable, "-c", code], env=environment, check=False)
    assert done.returncode == 0
