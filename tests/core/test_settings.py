"""Settings of torch that operators read on each call: precision and determinism."""

from __future__ import annotations

from pathlib import Path

from .processes import RUNS_ONCE, output
from .stub_vendor import StubVendor

pytestmark = RUNS_ONCE

SETTINGS = """
import torch

def settings():
    return [int(x) for x in torch.ones(3, device="dl").neg().tolist()]

assert settings() == [0, 1, 0], settings()
torch.set_float32_matmul_precision("high")
assert settings() == [1, 1, 0], settings()
torch.set_float32_matmul_precision("highest")
torch.backends.cudnn.allow_tf32 = False
assert settings() == [0, 0, 0], settings()
torch.backends.cudnn.conv.fp32_precision = "tf32"
assert settings() == [0, 1, 0], settings()
torch.backends.cudnn.conv.fp32_precision = "ieee"
assert settings() == [0, 0, 0], settings()
torch.use_deterministic_algorithms(True)
assert settings() == [0, 0, 1], settings()
torch.use_deterministic_algorithms(True, warn_only=True)
assert settings() == [0, 0, 1], settings()
torch.use_deterministic_algorithms(False)
assert settings() == [0, 0, 0], settings()
"""


def test_operators_see_the_settings_of_torch(tmp_path: Path) -> None:
    vendor = StubVendor(tmp_path).compile(Path(__file__).parent / "settings_vendor.cpp")
    output(SETTINGS, **vendor.variables())


def test_the_host_without_torch_passes_its_own_settings(tmp_path: Path) -> None:
    vendor = StubVendor(tmp_path).compile(Path(__file__).parent / "settings_vendor.cpp")
    code = f"""
    from diopi_proto import load_vendor
    from diopi_proto.host.hosttable import default_host

    host = default_host()
    with load_vendor({str(vendor.library)!r}) as vendor:
        out = vendor.empty((3,))

        def settings():
            vendor.op.Neg(out, out)
            return out.numpy().tolist()

        assert settings() == [0, 0, 0]
        host.tf32_convolutions = True
        assert settings() == [0, 1, 0]
        host.deterministic, host.tf32_convolutions = True, False
        assert settings() == [0, 0, 1]
        host.tf32_products = True
        assert settings() == [1, 0, 1]
    """
    output(code)
