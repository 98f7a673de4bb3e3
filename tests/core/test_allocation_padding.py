"""A device that needs bytes without data behind each block: they overlap no tensor.

With DL_ASYNC_TEST_PADDING, operators of the asynchronous test vendor overwrite those bytes behind
the storages of all their tensors, and reject a block of memory that ends before them.
"""

from __future__ import annotations

import pytest

from .processes import AFTER_BACKWARD, RUNS_ONCE, output

pytestmark = RUNS_ONCE
PADDED = {"DL_VENDORS": "async", "DL_ASYNC_TEST_PADDING": "32"}

# Blocks of 512 bytes would follow each other without a gap.
NEIGHBORS = """
import torch

assert torch.dl.get_device_properties().allocation_padding == 32
tensors = [torch.full((n,), float(n)).to("dl") for n in [128, 256, 512] * 40 for _ in range(2)]
results = [x + x for x in tensors]
for x, y in zip(tensors, results):
    n = float(len(x))
    assert (x.cpu() == n).all() and (y.cpu() == 2 * n).all(), n
# A block as large as a segment.
large = torch.zeros(8 << 20, dtype=torch.uint8).to("dl")
assert ((large + large).cpu() == 0).all()
del large, tensors, results, x, y
torch.dl.empty_cache()
assert torch.dl.memory_allocated() == 0
"""


def test_neighbors_keep_their_values() -> None:
    output(NEIGHBORS, **PADDED)


def test_the_memory_checker_accepts_overwritten_padding() -> None:
    done = """
    import torch

    x = torch.ones(100).to("dl")
    y = x + x
    assert (y.cpu() == 2).all()
    assert torch.dl.check_memory() == []
    """
    output(done, DL_MEM_CHECK="1", **PADDED)


@pytest.mark.parametrize("padding", ["32", "4096"])
def test_a_model_trains(padding: str) -> None:
    code = """
    import torch

    def losses(device):
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4))
        model.to(device)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
        x = torch.linspace(-1, 1, 64).reshape(8, 8).to(device)
        found = []
        for _ in range(5):
            optimizer.zero_grad()
            loss = model(x).square().mean()
            loss.backward()
            optimizer.step()
            found.append(loss.item())
        return found

    for a, b in zip(losses("dl"), losses("cpu")):
        assert abs(a - b) < 1e-5 * abs(b), (a, b)
    """
    after = AFTER_BACKWARD.replace("\n", "\n    ")
    output(code + after, **{**PADDED, "DL_ASYNC_TEST_PADDING": padding})


def test_a_compiled_graph_has_padding_between_its_temporaries() -> None:
    code = """
    import torch

    def f(a, b):
        c = a + b
        d = c.relu() * b
        return (d - a).sum(0), c @ d.t()

    a, b = torch.randn(16, 32), torch.randn(16, 32)
    expected = f(a, b)
    compiled = torch.compile(f, backend="dl", options={"engine": "contract"})
    for _ in range(3):
        for got, want in zip(compiled(a.to("dl"), b.to("dl")), expected):
            torch.testing.assert_close(got.cpu(), want)
    """
    output(code, **PADDED)
