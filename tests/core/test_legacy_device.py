"""A library in DIOPI's own style on a device with memory of its own, over a runtime's vendor table.

``legacy_device/`` has the library, in C and with DIOPI's signatures, and the runtime. The device is
simulated by the tests of dl-vendor-kit: streams are threads, and the host faults on its memory.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import diopi_proto
from diopi_proto import (
    AbiMismatchError,
    OperatorError,
    OutOfMemoryError,
    VendorLoadError,
    load_vendor,
)
from dl_vendor_kit import include_dir

from .processes import AFTER_BACKWARD, RUNS_ONCE, output
from .stub_vendor import PLUGIN, StubVendor

pytestmark = RUNS_ONCE

HERE = Path(__file__).parent / "legacy_device"
SIM = Path(__file__).parents[2] / "packages" / "vendor-kit" / "tests" / "fakes" / "runtime"
INCLUDES = [f"-I{path}" for path in (diopi_proto.include_dir(), include_dir(), SIM)]
STRICT = ("-shared", "-fPIC", "-O1", "-fvisibility=hidden", "-pthread")


def compile_shared(target: Path, *arguments: str) -> Path:
    """Compile a shared library; sources in C++ with the C++ compiler."""
    is_c = any(argument.endswith(".c") for argument in arguments)
    variable, standard = ("CC", "cc") if is_c else ("CXX", "c++")
    compiler = os.environ.get(variable) or shutil.which(standard) or standard
    language = () if is_c else ("-std=c++17",)
    command = [*compiler.split(), *STRICT, *language, *INCLUDES, *arguments, "-o", str(target)]
    subprocess.run(command, check=True)
    return target


class Built:
    """The libraries of the simulated device."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.driver = compile_shared(folder / "libsim.so", *map(str, sorted(SIM.glob("*.cpp"))))
        linked = (f"-L{folder}", "-lsim", "-Wl,-rpath,$ORIGIN")
        self.runtime = compile_shared(
            folder / "libsim_runtime.so", str(HERE / "runtime.cpp"), *linked
        )
        self.linked = linked
        self.library = self.compile_operators("libdiopi_impl.so")

    def compile_operators(self, name: str, *arguments: str) -> Path:
        sources = (str(HERE / "kernels.c"), str(HERE / "operators.c"))
        return compile_shared(
            self.folder / name, "-Wall", "-Wextra", *arguments, *sources, *self.linked, "-lm"
        )


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return Built(tmp_path_factory.mktemp("legacy_device"))


def test_it_has_the_devices_of_the_runtime_and_the_operators_of_the_library(built: Built) -> None:
    with load_vendor(built.library, legacy=True, runtime=built.runtime, probe=True) as vendor:
        assert (vendor.name, vendor.device_count) == ("simulated", 2)
        assert not vendor.host_accessible and not vendor.synchronous
        assert vendor.properties(1).allocation_padding == 32
        bound = {name for name, there in vendor.operators.items() if there}
        assert len(bound) >= 30
        assert {"diopiMm", "diopiLayerNorm", "diopiEmbeddingBackward"} <= bound
        for device in (0, 1):
            a = vendor.tensor(np.arange(6, dtype=np.float32).reshape(2, 3), device=device)
            out = vendor.empty((2, 2), device=device)
            stream = vendor.stream(device)
            vendor.op.Mm(out, a, a.as_strided((3, 2), (1, 3)), stream=stream, synchronize=False)
            assert out.numpy().tolist() == [[5, 14], [14, 50]]


WRONG_CALLS = {
    "product": (
        lambda v, t: v.op.Mm(t(2, 2), t(2, 3), t(4, 2)),
        "mat2 has the shape (4, 2), expected [k, m] = [3, any]",
    ),
    "result": (
        lambda v, t: v.op.Mm(t(2, 3), t(2, 3), t(3, 2)),
        "out has the shape (2, 3), expected [n, m] = [2, 2]",
    ),
    "broadcast": (
        lambda v, t: v.op.Add(t(2, 3), t(2, 3), t(2), 1),
        "out cannot be computed: the shapes (2, 3) and (2,) do not broadcast",
    ),
    "dimension": (
        lambda v, t: v.op.Softmax(t(2, 3), t(2, 3), 2),
        "dim is 2, not a dimension of a tensor with 2 dimensions",
    ),
    "rows": (
        lambda v, t: v.op.LayerNorm(t(2, 3), t(2), t(2), t(2, 3), t(4), None, [3], 1e-5),
        "weight has the shape (4,), expected [*n] = [(3,)]",
    ),
    "reduction": (
        lambda v, t: v.op.Sum(t(2), t(2, 3), [0]),
        "out has the shape (2,), expected (3,) or (1, 3)",
    ),
    "parts": (
        lambda v, t: v.op.Cat(t(5, 3), [t(2, 3), t(2, 3)], 0),
        "out has the shape (5, 3), but the parts have 4 elements along dimension 0",
    ),
    "one input": (
        lambda v, t: v.op.Exp(t(2, 3), t(3)),
        "out has the shape (2, 3), expected [*x] = [(3,)]",
    ),
}


@pytest.mark.parametrize("name", WRONG_CALLS)
def test_a_wrong_shape_does_not_reach_the_library(built: Built, name: str) -> None:
    call, message = WRONG_CALLS[name]
    with load_vendor(built.library, legacy=True, runtime=built.runtime) as vendor:
        with pytest.raises(OperatorError) as caught:
            call(vendor, lambda *shape: vendor.empty(shape))
        assert message in str(caught.value)
        vendor.synchronize()


def test_dtypes_are_checked_and_the_librarys_own_words_reported(built: Built) -> None:
    with load_vendor(built.library, legacy=True, runtime=built.runtime) as vendor:
        with pytest.raises(OperatorError, match="mat2 has a dtype other than that of input"):
            vendor.op.Mm(
                vendor.empty((2, 2)), vendor.empty((2, 2)), vendor.empty((2, 2), "float64")
            )
        wide = vendor.empty((2,), "float64")
        with pytest.raises(OperatorError, match="only float32, int64 and bool are supported") as e:
            vendor.op.Exp(wide, wide)
        assert (
            e.value.code
            == diopi_proto.ffi.typeof("diopiError_t").relements["diopiDtypeNotSupported"]
        )
        with pytest.raises(OutOfMemoryError, match="simulated"):
            vendor.empty((1 << 32,))


def test_conformance_cases_pass(built: Built, tmp_path: Path) -> None:
    operators = (
        "Add Sub Mul Neg Exp Sqrt Relu Gelu GeluBackward Mm Bmm Addmm Softmax SoftmaxBackward "
        "LogSoftmax LayerNorm LayerNormBackward Embedding Sum Mean Cat Fill CastDtype"
    )
    # The library's kernels skip invalid indices instead of reporting them.
    known = tmp_path / "known.txt"
    known.write_text("diopiEmbedding[float32-refused-indices 4x3 int64 of -9]\n")
    command = [
        *(sys.executable, "-m", "dl_core", "conformance", "--library", str(built.library)),
        *("--runtime", str(built.runtime), "--only-dtype", "float32"),
        *("--known-failures", str(known)),
        *(word for name in operators.split() for word in ("--fname", name)),
    ]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    passed = re.search(r"(\d+) passed", done.stdout)
    assert passed is not None and int(passed[1]) > 100, done.stdout[-2000:]


MODEL = """
import torch

class Block(torch.nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.first, self.second = torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)
        self.query, self.key, self.value = (torch.nn.Linear(width, width) for _ in range(3))
        self.out = torch.nn.Linear(width, width)
        self.up, self.down = torch.nn.Linear(width, 2 * width), torch.nn.Linear(2 * width, width)

    def split(self, x):
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def forward(self, x):
        y = self.first(x)
        q, k, v = (self.split(f(y)) for f in (self.query, self.key, self.value))
        weights = ((q @ k.transpose(-1, -2)) / q.shape[-1] ** 0.5).softmax(-1)
        x = x + self.out((weights @ v).transpose(1, 2).flatten(2))
        return x + self.down(torch.nn.functional.gelu(self.up(self.second(x))))

class Transformer(torch.nn.Module):
    def __init__(self, words=11, width=16):
        super().__init__()
        self.words, self.places = torch.nn.Embedding(words, width), torch.nn.Embedding(8, width)
        self.blocks = torch.nn.Sequential(Block(width, 2), Block(width, 2))
        self.head = torch.nn.Linear(width, words)

    def forward(self, x):
        places = torch.arange(x.shape[1]).to(x.device)
        return self.head(self.blocks(self.words(x) + self.places(places)))

def losses(device, steps=6):
    torch.manual_seed(3)
    model = Transformer().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
    data = torch.randint(0, 11, (4, 9)).to(device)
    found = []
    for _ in range(steps):
        optimizer.zero_grad()
        scores = model(data[:, :-1])
        chosen = scores.log_softmax(-1).flatten(0, 1)
        target = torch.nn.functional.one_hot(data[:, 1:].cpu().flatten(), 11).float().to(device)
        loss = -(chosen * target).sum() / len(target)
        loss.backward()
        optimizer.step()
        found.append(loss.item())
    return found
"""

CHECK = """
mine, wanted = losses("dl"), losses("cpu")
assert all(abs(a - b) < 1e-4 for a, b in zip(mine, wanted)), (mine, wanted)
assert mine[-1] < mine[0]
stats = torch.dl.fallback_stats()
assert torch.dl.get_device_properties().vendor == "chip", torch.dl.get_device_properties()
for name in ("addmm", "bmm", "native_layer_norm", "_softmax", "gelu", "embedding", "add", "mul"):
    assert not any(key.split("::")[-1].split(".")[0] == name for key in stats), (name, stats)
try:
    torch.ones(2, 3, device="dl") @ torch.ones(2, 3, device="dl")
except RuntimeError as error:
    assert "shapes cannot be multiplied" in str(error) or "mat" in str(error), error
else:
    raise AssertionError("a product of wrong shapes succeeded")
print("trained")
"""


@pytest.fixture
def chip(built: Built, tmp_path: Path) -> dict[str, str]:
    """Variables of a process with a wheel that names both libraries."""
    vendor = StubVendor(tmp_path, legacy=True)
    plugin = PLUGIN.replace('"stub"', '"chip"').replace(
        'Path(__file__).parent / "libstub.so"', f"Path({str(built.library)!r})"
    )
    plugin = plugin.replace(
        "legacy=LEGACY,", f"legacy=LEGACY, runtime=Path({str(built.runtime)!r}),"
    )
    (tmp_path / "dl_stub_plugin.py").write_text(f"LEGACY, ADAPTOR = True, None\n{plugin}")
    return vendor.variables("chip")


def test_a_transformer_trains_under_torch(chip: dict[str, str]) -> None:
    assert "trained" in output(MODEL + CHECK + AFTER_BACKWARD, **chip)


def test_doctor_names_both_libraries(chip: dict[str, str], built: Built) -> None:
    command = [sys.executable, "-m", "dl_core", "doctor"]
    done = subprocess.run(
        command, env={**os.environ, **chip}, capture_output=True, text=True, check=False
    )
    assert str(built.library) in done.stdout and f"runtime   {built.runtime}" in done.stdout
    assert "interface DIOPI, over a runtime" in done.stdout
    assert "host memory" not in done.stdout


def test_what_is_missing_is_named(built: Built, tmp_path: Path) -> None:
    missing = tmp_path / "libruntime.so"
    with pytest.raises(VendorLoadError, match=r"libruntime\.so does not exist"):
        load_vendor(built.library, legacy=True, runtime=missing)
    with pytest.raises(VendorLoadError, match="it does not export dl_vendor_v1"):
        load_vendor(built.library, legacy=True, runtime=built.driver)
    with pytest.raises(VendorLoadError, match=r"a runtime .* is for libraries"):
        load_vendor(built.runtime, runtime=built.runtime)
    with pytest.raises(VendorLoadError, match="exports no DIOPI operator"):
        load_vendor(built.driver, legacy=True, runtime=built.runtime)


def test_a_runtime_of_another_version_is_named(built: Built, tmp_path: Path) -> None:
    source = tmp_path / "later.cpp"
    source.write_text(
        'extern "C" __attribute__((visibility("default"))) int dl_vendor_v2() { return 0; }\n'
    )
    later = compile_shared(tmp_path / "liblater.so", str(source))
    with pytest.raises(AbiMismatchError, match="built for vendor ABI 2"):
        load_vendor(built.library, legacy=True, runtime=later)


def test_a_function_that_diopi_does_not_have_is_named(built: Built, tmp_path: Path) -> None:
    source = tmp_path / "more.c"
    source.write_text(
        '#define DIOPI_EXPORT_SYMBOLS\n#define DIOPIRT_EXTERN\n#include "diopi/diopirt.h"\n'
        '#include "diopi/functions.h"\n'
        "diopiError_t diopiGetTensorColour(diopiConstTensorHandle_t tensor);\n"
        "diopiError_t diopiAbs(diopiContextHandle_t ctx, diopiTensorHandle_t out,\n"
        "                      diopiConstTensorHandle_t input) {\n"
        "  (void)ctx, (void)out;\n  return diopiGetTensorColour(input);\n}\n"
    )
    library = compile_shared(tmp_path / "libmore.so", str(source))
    with pytest.raises(
        VendorLoadError,
        match="diopiGetTensorColour is not a runtime function of DIOPI that libdiopirt",
    ):
        load_vendor(library, legacy=True, runtime=built.runtime)


def test_a_machine_without_the_device_has_none(built: Built) -> None:
    code = f"""
    from diopi_proto import ArgumentError, load_vendor

    with load_vendor({str(built.library)!r}, legacy=True, runtime={str(built.runtime)!r}) as vendor:
        assert vendor.device_count == 0
        try:
            vendor.empty((2,))
        except ArgumentError as error:
            assert "no device 0; its number of devices is 0" in str(error)
    """
    output(code, SIM_DEVICES="0")
