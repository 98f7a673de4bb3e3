"""Captured calls become conformance cases of the right operator with all of its arguments."""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.nn import functional

from bundle_cases import captured, forge, store_bytes
from dl_conformance.captured import read_cases
from dl_conformance.case import T
from dl_conformance.execution import judge
from dl_conformance.tensor_file import Stored
from dl_core.commands import Command
from dl_optools.bundle import Bundle, BundleError, read
from dl_optools.commands.bundle import BUNDLE
from dl_optools.conformance import lookup, planned
from dl_optools.conformance.export import to_conformance


def command(one: Command, *arguments: str | Path) -> int:
    parser = argparse.ArgumentParser()
    one.configure(parser)
    return int(one.run(parser.parse_args([*map(str, arguments)])))


def rows(*sizes: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.randn(sizes, generator=torch.Generator().manual_seed(2)).to(dtype)


IMAGE = rows(2, 3, 9, 8)
INDEX = torch.tensor([[0, 2], [1, 1]])
CALLS: dict[str, tuple[Callable[[], Any], str]] = {
    "sum of two": (lambda: torch.add(rows(3, 4), rows(4), alpha=3), "diopiAdd"),
    "with a number": (lambda: torch.add(rows(3, 4), 2), "diopiAddScalar"),
    "promoted": (lambda: torch.add(torch.arange(4), rows(4)), "diopiAdd"),
    "promoted by a number": (lambda: torch.mul(torch.arange(4), 1.5), "diopiMulScalar"),
    "of integers": (lambda: torch.sqrt(torch.arange(4)), "diopiSqrt"),
    "in place": (lambda: rows(3, 4).mul_(rows(3, 4)), "diopiMul"),
    "transposed": (lambda: torch.exp(rows(3, 4).T), "diopiExp"),
    "expanded": (lambda: torch.exp(rows(3, 1).expand(3, 4)), "diopiExp"),
    "bfloat16": (lambda: torch.tanh(rows(5, dtype=torch.bfloat16)), "diopiTanh"),
    "rounded quotient": (lambda: torch.div(rows(4), 3, rounding_mode="floor"), "diopiDivScalar"),
    "compared": (lambda: torch.lt(rows(4), rows(4).flip(0)), "diopiLt"),
    "limited": (lambda: torch.clamp(rows(4), max=0.5), "diopiClampScalar"),
    "chosen": (lambda: torch.where(rows(4) > 0, rows(4), rows(1)), "diopiWhere"),
    "product": (lambda: torch.mm(rows(3, 4), rows(4, 5)), "diopiMm"),
    "linear": (lambda: functional.linear(rows(3, 4), rows(5, 4), rows(5)), "diopiAddmm"),
    "batches": (lambda: torch.bmm(rows(2, 3, 4), rows(2, 4, 5)), "diopiBmm"),
    "sum": (lambda: torch.sum(rows(3, 4), -1, keepdim=True), "diopiSum"),
    "sum of all": (lambda: rows(3, 4).sum(), "diopiSum"),
    "mean in another dtype": (lambda: rows(3, 4).mean(0, dtype=torch.float64), "diopiMean"),
    "deviation": (lambda: torch.std(rows(3, 4), 1), "diopiStd"),
    "norm": (lambda: torch.linalg.vector_norm(rows(3, 4), 3, dim=-1), "diopiNorm"),
    "largest": (lambda: torch.max(rows(3, 4), -1), "diopiMax"),
    "place of the largest": (lambda: torch.argmax(rows(3, 4)), "diopiArgmax"),
    "softmax": (lambda: torch.softmax(rows(3, 4), -1), "diopiSoftmax"),
    "running sum": (lambda: torch.cumsum(rows(3, 4), -2), "diopiCumsum"),
    "sorted": (lambda: torch.sort(rows(3, 4), stable=True), "diopiSort"),
    "largest ones": (lambda: torch.topk(rows(3, 4), 2), "diopiTopk"),
    "joined": (lambda: torch.cat([rows(3, 4), rows(3, 2)], -1), "diopiCat"),
    "stacked": (lambda: torch.stack([rows(3), rows(3)], -1), "diopiStack"),
    "gathered": (lambda: torch.gather(rows(3, 4), 1, INDEX), "diopiGather"),
    "indexed": (lambda: rows(3, 4)[INDEX], "diopiIndex"),
    "embedding": (lambda: functional.embedding(INDEX, rows(3, 4)), "diopiEmbedding"),
    "filled": (lambda: rows(4).masked_fill(rows(4) > 0, 2), "diopiMaskedFillInpScalar"),
    "scattered": (lambda: rows(3, 4).scatter(0, INDEX, rows(2, 2)), "diopiScatterInp"),
    "padded": (lambda: functional.pad(rows(3, 4), (1, 2)), "diopiPad"),
    "reflected": (lambda: functional.pad(IMAGE, (1, 2, 0, 1), "reflect"), "diopiPad"),
    "convolution": (
        lambda: functional.conv2d(IMAGE, rows(6, 1, 3, 3), rows(6), 2, 1, groups=3),
        "diopiConvolution2d",
    ),
    "transposed convolution": (
        lambda: functional.conv_transpose2d(IMAGE, rows(3, 2, 3, 3), stride=2, output_padding=1),
        "diopiConvTranspose2d",
    ),
    "pool": (lambda: functional.avg_pool2d(IMAGE, 3, 2, 1), "diopiAvgPool2d"),
    "pool of largest": (lambda: functional.max_pool2d(IMAGE, 2), "diopiMaxPool2dWithIndices"),
    "pool of channels last": (
        lambda: functional.max_pool2d(IMAGE.to(memory_format=torch.channels_last), 2),
        "diopiMaxPool2dWithIndices",
    ),
    "resized": (
        lambda: functional.interpolate(IMAGE, size=(5, 12), mode="bilinear"),
        "diopiUpsampleLinear",
    ),
    "batch norm": (
        lambda: functional.batch_norm(IMAGE, rows(3), rows(3).abs(), rows(3), training=True),
        "diopiBatchNorm",
    ),
    "layer norm": (
        lambda: functional.layer_norm(rows(3, 4), (4,), rows(4), rows(4)),
        "diopiLayerNorm",
    ),
    "group norm": (lambda: functional.group_norm(rows(2, 6, 5), 3, rows(6)), "diopiGroupNorm"),
    "loss": (lambda: functional.mse_loss(rows(3, 4), rows(4).expand(3, 4)), "diopiMSELoss"),
    "loss of classes": (
        lambda: functional.nll_loss(rows(3, 4), torch.tensor([0, 3, 1]), rows(4).abs()),
        "diopiNLLLossV2",
    ),
    "attention": (
        lambda: functional.scaled_dot_product_attention(*3 * [rows(1, 2, 5, 4)], is_causal=True),
        "dlopAttention",
    ),
    "converted": (lambda: rows(3, 4).to(torch.float16), "diopiCopyInp"),
}


def only(program: Callable[[], Any], directory: Path, **options: Any) -> Bundle:
    """Return the last call of a program."""
    return captured(program, directory, **options)[-1]


def bundle_of(name: str, directory: Path, level: str) -> Bundle:
    program, operator = CALLS[name]
    for bundle in reversed(captured(program, directory / name.replace(" ", "-"), level=level)):
        try:
            to_conformance(bundle, directory / "tried", force=True)
        except BundleError:
            continue
        if operator in {x.operator for x in read_cases(directory / "tried")}:
            return bundle
    raise AssertionError(f"no call of {name!r} is one of {operator}")


@pytest.mark.parametrize("level", ["api", "dispatch"])
@pytest.mark.parametrize("name", CALLS)
def test_calls_become_cases(name: str, level: str, tmp_path: Path) -> None:
    bundle = bundle_of(name, tmp_path, level)
    said = to_conformance(bundle, tmp_path / "case")
    cases = read_cases(tmp_path / "case")
    assert CALLS[name][1] in {case.operator for case in cases}
    right = "the results of cpu are right" in "".join(said)
    assert right or "torch's own result on the CPU is outside of the bound" in said[0], said
    assert all(bundle.document.operator in case.source for case in cases)


def test_a_case_has_the_elements_and_strides_of_the_call(tmp_path: Path) -> None:
    x = rows(3, 8)[:, 1::2].T
    to_conformance(only(lambda: torch.exp(x), tmp_path), tmp_path / "case")
    (case,) = read_cases(tmp_path / "case")
    given = case.arguments["input"]
    assert isinstance(given, T)
    assert given.stored is not None
    assert given.stored.tobytes() == x.contiguous().numpy().tobytes()
    assert given.strides == (2, 8)
    out = case.arguments["out"]
    assert (out.sizes, out.strides) == ((4, 3), (1, 4))


def test_calls_of_a_backward_become_cases_too(tmp_path: Path) -> None:
    def program() -> None:
        x, weight = IMAGE.clone().requires_grad_(), rows(4, 3, 3, 3).requires_grad_()
        functional.conv2d(x, weight).square().sum().backward()

    found = [x for x in captured(program, tmp_path) if x.document.operator.endswith("conv2d")]
    to_conformance(found[0], tmp_path / "case")
    names = [x.operator for x in read_cases(tmp_path / "case")]
    assert names == ["diopiConvolution2d", "diopiConvolution2dBackward"]


@pytest.mark.parametrize(
    ("program", "said"),
    [
        (lambda: torch.linalg.svd(rows(3, 3)), "aten._linalg_svd.default: dl-core's table has no"),
        (lambda: rows(3).normal_(), "draws random numbers"),
        (lambda: torch.add(rows(3), 1j), "cannot hold a complex number"),
        (lambda: rows(3).reshape(3, 1), "calls no operator"),
        (lambda: rows(3, 3).to_sparse().sum(), "layout torch.sparse_coo"),
    ],
)
def test_calls_that_no_operator_serves_are_refused(
    program: Callable[[], Any], said: str, tmp_path: Path
) -> None:
    bundle = only(program, tmp_path)
    with pytest.raises(BundleError) as raised:
        to_conformance(bundle, tmp_path / "case")
    assert said in str(raised.value)
    assert not (tmp_path / "case").exists()


def test_a_mapping_that_is_wrong_becomes_no_case(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each case is checked against torch before it is written."""
    bundle = only(lambda: torch.softmax(rows(4, 4), 0), tmp_path)
    monkeypatch.setitem(planned._VALUES, "dim", lambda plan, bound: 1)  # type: ignore[index]
    with pytest.raises(BundleError, match="the reference disagrees with torch on the CPU"):
        to_conformance(bundle, tmp_path / "case")


def test_other_operators_that_may_serve_are_named(tmp_path: Path) -> None:
    bundle = only(lambda: torch.mm(rows(3, 4), rows(4, 5)), tmp_path)
    (first, *_) = to_conformance(bundle, tmp_path / "case")
    assert (
        first == "aten.mm.default is served by diopiMm or, where a vendor lacks that operator, by "
        "diopiMatmul"
    )


def test_plans_that_are_not_known_are_few() -> None:
    """Return the results that the contract defines for a call, without random ones.

    torch leaves parts of the logarithms that its ctc_loss returns uninitialised: no case can
    compare them.
    """
    values = {
        value.removeprefix("plan.")
        for row in lookup._rows().values()
        for _, call in (row["call"], row["scalar"] or ["", []])
        for value in call
        if isinstance(value, str) and value.startswith("plan.")
    }
    lengths = {"input_lengths", "target_lengths"}
    assert values - planned._VALUES.keys() == {"mean", "probabilities", "std"} | lengths


def test_a_wrong_result_is_reported_and_a_wrong_device_fails_the_case(tmp_path: Path) -> None:
    bundle = only(lambda: torch.exp(rows(3, 4)), tmp_path / "capture")
    wrong = torch.exp(rows(3, 4))
    wrong[1, 2] *= 1.5
    content = store_bytes(bundle.path.parents[1], wrong.numpy().tobytes())
    storage = bundle.document.tensors[bundle.document.results[0].tensor].storage
    forge(bundle.path, lambda d: d["storages"][storage]["pieces"][0].update(hash=content))
    said = to_conformance(read(bundle.path), tmp_path / "case")
    assert "the results of cpu are wrong" in said[1]
    assert "1 of 12 elements differ" in "".join(said)
    (case,) = read_cases(tmp_path / "case")
    stored = Stored("float32", wrong.numpy())
    assert "1 of 12" in judge(case, {"out": stored})[0][0].message


def test_the_command_writes_a_file_that_runs_without_torch(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    bundle = only(lambda: torch.softmax(rows(3, 4), -1), tmp_path)
    file = tmp_path / "case.safetensors"
    assert command(BUNDLE, "to-conformance", bundle.path, "-o", file) == 0
    assert "aten._softmax.default is served by diopiSoftmax" in capfd.readouterr().out
    assert command(BUNDLE, "to-conformance", bundle.path, "-o", file) == 2
    assert "--force replaces it" in capfd.readouterr().err
    script = (
        "import sys; sys.modules['torch'] = None\n"
        "from dl_conformance.command import main\n"
        f"sys.exit(main(['--cases', {str(file)!r}, '-k', 'captured', '--list']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("diopiSoftmax[float32-captured-3x4-dim=1-")


def test_a_call_that_raises_is_the_verdict(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    def program() -> None:
        with pytest.raises(RuntimeError):
            torch.mm(rows(3, 4), rows(3, 4))

    bundle = only(program, tmp_path)
    file = tmp_path / "case.safetensors"
    assert command(BUNDLE, "to-conformance", bundle.path, "-o", file) == 1
    assert "it raises RuntimeError" in capfd.readouterr().out
    assert not file.exists()
