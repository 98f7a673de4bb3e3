"""Sparse tensors: created, moved, added, multiplied and trained with on dl as on the CPU."""

from __future__ import annotations

import copy
import io
from collections.abc import Callable

import pytest
import torch
from torch import nn

# Torch warns that compressed tensors are in beta.
pytestmark = pytest.mark.filterwarnings("ignore:Sparse")

Make = Callable[[str], torch.Tensor]

INDICES = torch.tensor([[0, 1, 1, 4], [2, 0, 0, 3]])
"""Two elements have the same position."""
VALUES = torch.tensor([0.5, -1.25, 2.0, 4.0])
DENSE = torch.tensor(
    [[0, 1.5, 0, 2], [0, 0, 0, 0], [3, 0, 0, -1], [0, 0, 0.25, 0], [-2, 0, 0, 7]],
)


def coo(device: str) -> torch.Tensor:
    return torch.sparse_coo_tensor(INDICES.to(device), VALUES.to(device), (5, 4))


def joined(device: str) -> torch.Tensor:
    return coo(device).coalesce()


def hybrid(device: str) -> torch.Tensor:
    values = torch.arange(12.0).reshape(4, 3)
    return torch.sparse_coo_tensor(INDICES.to(device), values.to(device), (5, 4, 3))


def dense(device: str) -> torch.Tensor:
    return DENSE.clone().to(device)


def csr(device: str) -> torch.Tensor:
    return dense(device).to_sparse_csr()


def wide(device: str) -> torch.Tensor:
    return dense(device).t().contiguous()


def parts(tensor: torch.Tensor) -> list[torch.Tensor]:
    """Return the strided component tensors."""
    if tensor.layout == torch.strided:
        return [tensor]
    if tensor.layout == torch.sparse_coo:
        return [tensor._indices(), tensor._values()]
    if tensor.layout in (torch.sparse_csr, torch.sparse_bsr):
        return [tensor.crow_indices(), tensor.col_indices(), tensor.values()]
    return [tensor.ccol_indices(), tensor.row_indices(), tensor.values()]


def assert_alike(ours: torch.Tensor, theirs: torch.Tensor) -> None:
    """Check equality of components, layout, dtype and shape, and the device."""
    assert ours.device.type == "dl"
    assert (ours.layout, ours.dtype, ours.shape) == (theirs.layout, theirs.dtype, theirs.shape)
    if ours.layout == torch.sparse_coo:
        # Torch's CPU drops the flag after some in-place operators.
        assert ours.is_coalesced() or not theirs.is_coalesced()
    for our, their in zip(parts(ours), parts(theirs), strict=True):
        assert our.device.type == "dl"
        torch.testing.assert_close(our.cpu(), their)


MADE: dict[str, Make] = {
    "coo": coo,
    "coo of the CPU's parts": lambda d: torch.sparse_coo_tensor(INDICES, VALUES, device=d),
    "coo, checked": lambda d: torch.sparse_coo_tensor(
        INDICES.to(d), VALUES.to(d), (5, 4), check_invariants=True
    ),
    "hybrid": hybrid,
    "to_sparse": lambda d: dense(d).to_sparse(),
    "to_sparse of one dimension": lambda d: dense(d).to_sparse(1),
    "zeros": lambda d: torch.zeros(3, 2, layout=torch.sparse_coo, device=d),
    "zeros_like": lambda d: torch.zeros_like(coo(d)),
    "csr": lambda d: torch.sparse_csr_tensor(
        torch.tensor([0, 1, 2]).to(d), torch.tensor([1, 0]).to(d), torch.ones(2).to(d), (2, 2)
    ),
    "csr of the CPU's parts": lambda d: torch.sparse_csr_tensor(
        torch.tensor([0, 1, 2]), torch.tensor([1, 0]), torch.ones(2), (2, 2), device=d
    ),
    "to_sparse_csr": csr,
    "to_sparse_csc": lambda d: dense(d).to_sparse_csc(),
    "to_sparse_bsr": lambda d: torch.ones(4, 4).to(d).to_sparse_bsr((2, 2)),
    "to_sparse_csr of several": lambda d: torch.ones(2, 3, 3).to(d).to_sparse_csr(),
    "csr of coo": lambda d: coo(d).to_sparse_csr(),
    "coo of csr": lambda d: csr(d).to_sparse(),
    "csc of csr": lambda d: csr(d).to_sparse_csc(),
    "csr of csc": lambda d: dense(d).to_sparse_csc().to_sparse_csr(),
    "bsr of csr": lambda d: torch.ones(4, 4).to(d).to_sparse_csr().to_sparse_bsr((2, 2)),
    "moved": lambda d: coo("cpu").to(d),
    "moved csr": lambda d: csr("cpu").to(d),
    "moved and converted": lambda d: coo("cpu").to(d, torch.float64),
    "clone": lambda d: hybrid(d).clone(),
    "copied into": lambda d: torch.zeros_like(joined(d)).copy_(joined("cpu")),
    "deep copy": lambda d: copy.deepcopy(coo(d)),
    "transposed": lambda d: coo(d).t(),
}

COMPUTED: dict[str, Make] = {
    "coalesce": joined,
    "coalesce rows": lambda d: hybrid(d).coalesce(),
    "coalesce bools": lambda d: torch.sparse_coo_tensor(
        INDICES.to(d), torch.tensor([True, False, True, True]).to(d)
    ).coalesce(),
    "coalesce nothing": lambda d: torch.zeros(3, 3).to(d).to_sparse().coalesce(),
    "to_dense": lambda d: coo(d).to_dense(),
    "to_dense of rows": lambda d: hybrid(d).to_dense(),
    "to_dense of csr": lambda d: csr(d).to_dense(),
    "to_dense of csc": lambda d: dense(d).to_sparse_csc().to_dense(),
    "values": lambda d: joined(d).values(),
    "indices": lambda d: joined(d).indices(),
    "mm": lambda d: torch.sparse.mm(coo(d), wide(d)),
    "mm of float64": lambda d: coo(d).double() @ wide(d).double(),
    "mm of nothing": lambda d: torch.zeros(5, 4).to(d).to_sparse() @ wide(d),
    "mm of csr": lambda d: csr(d) @ wide(d),
    "mm of csc": lambda d: dense(d).to_sparse_csc() @ wide(d),
    "mv": lambda d: coo(d) @ torch.arange(4.0).to(d),
    "addmm": lambda d: torch.sparse.addmm(torch.ones(5).to(d), coo(d), wide(d), beta=3, alpha=2),
    "addmm of csr": lambda d: torch.addmm(torch.ones(5, 5).to(d), csr(d), wide(d), beta=0.5),
    "addmm_": lambda d: torch.ones(5, 5).to(d).addmm_(coo(d), wide(d), alpha=-1),
    "addmm with what beta leaves out": lambda d: torch.addmm(
        torch.full((5, 5), torch.nan).to(d), coo(d), wide(d), beta=0
    ),
    "add": lambda d: joined(d) + dense(d).to_sparse(),
    "add with a factor": lambda d: torch.add(joined(d), dense(d).to_sparse(), alpha=-2),
    "add_": lambda d: joined(d).add_(dense(d).to_sparse()),
    "sub": lambda d: joined(d) - dense(d).to_sparse(),
    "dense and sparse": lambda d: dense(d) + coo(d),
    "dense and csr": lambda d: dense(d) + csr(d),
    "rows into dense": lambda d: torch.ones(5, 4, 3).to(d).add_(hybrid(d), alpha=-3),
    "into what is not contiguous": lambda d: torch.ones(4, 5).to(d).t().add_(coo(d)),
    "mul": lambda d: coo(d) * 3,
    "mul of integers": lambda d: (coo(d) * 4).to(torch.int64) * 2.5,
    "mul_": lambda d: joined(d).mul_(2),
    "mul by dense": lambda d: joined(d) * dense(d),
    "mul of csr": lambda d: csr(d) * 2,
    "div": lambda d: coo(d) / 2,
    "sum": lambda d: coo(d).sum(),
    "sum over rows": lambda d: torch.sparse.sum(coo(d), 0),
    "sum of csr": lambda d: csr(d).sum(),
    "norm": lambda d: coo(d).norm(),
    "neg": lambda d: -joined(d),
    "sin": lambda d: coo(d).sin(),
    "abs of csr": lambda d: csr(d).abs(),
    "pow": lambda d: joined(d).pow(2),
    "cat": lambda d: torch.cat([coo(d), dense(d).to_sparse()]),
    "mask": lambda d: dense(d).sparse_mask(joined(d)),
    "row": lambda d: joined(d)[1],
    "permute": lambda d: hybrid(d).permute(1, 0, 2),
}

ON_CPU: dict[str, tuple[str, Make]] = {
    "softmax": ("_sparse_softmax", lambda d: torch.sparse.softmax(joined(d), 1)),
    "sparse times sparse": (
        "_sparse_sparse_matmul",
        lambda d: torch.sparse.mm(joined(d), joined(d).t()).coalesce(),
    ),
    "mul of two": ("mul.out", lambda d: joined(d) * dense(d).to_sparse()),
    "index_select": ("index_select", lambda d: coo(d).index_select(0, torch.tensor([1, 4]).to(d))),
    "csr and csr": ("add.out", lambda d: csr(d) + csr(d)),
    "csr sums": ("_sparse_csr_sum.dim_dtype", lambda d: csr(d).sum(1, keepdim=True)),
    "batches": (
        "bmm",
        lambda d: torch.bmm(torch.stack([joined(d), joined(d)]), torch.ones(2, 4, 3).to(d)),
    ),
}


@pytest.mark.parametrize("make", [*MADE.values(), *COMPUTED.values()], ids=[*MADE, *COMPUTED])
def test_sparse_tensors_are_those_of_the_cpu(make: Make) -> None:
    assert_alike(make("dl"), make("cpu"))


@pytest.mark.parametrize(("overload", "make"), ON_CPU.values(), ids=ON_CPU)
def test_what_runs_on_the_cpu_is_right_and_counted(overload: str, make: Make) -> None:
    torch.dl.reset_fallback_stats()
    ours = make("dl")
    assert torch.dl.fallback_stats()[overload]["count"] == 1
    assert_alike(ours, make("cpu"))


def test_products_of_two_matrices_made_sparse() -> None:
    matrix = torch.arange(48.0).reshape(6, 8).remainder(5) - 2
    ours = matrix.to("dl").to_sparse()
    assert ours._indices().is_contiguous()
    for left in (ours, ours.cpu()):
        found = torch.sparse.mm(left, left.t()).to_dense()
        assert torch.equal(found.cpu(), matrix @ matrix.t())


def test_fallbacks_of_sparse_tensors_can_be_forbidden() -> None:
    given = joined("dl")
    with (
        torch.dl.fallback("error"),
        pytest.raises(NotImplementedError, match=r"\[dl\] aten::_sparse_softmax.*DL_FALLBACK"),
    ):
        torch.sparse.softmax(given, 1)


@pytest.mark.vendor("cpu")
def test_products_and_sums_run_on_the_device() -> None:
    torch.dl.reset_fallback_stats()
    for make in (MADE["csr of coo"], COMPUTED["mm"], COMPUTED["mm of csr"], COMPUTED["add_"]):
        make("dl")
    assert "_unique2" not in torch.dl.fallback_stats()
    assert not {"mm", "addmm", "addmm.out", "add.out"} & set(torch.dl.fallback_stats())


@pytest.mark.parametrize("make", [coo, joined, hybrid, csr], ids=["coo", "joined", "rows", "csr"])
def test_cpu_gives_back_what_was_moved(make: Make) -> None:
    there = make("cpu").to("dl")
    back = there.cpu()
    assert back.layout == there.layout
    for our, their in zip(parts(back), parts(make("cpu")), strict=True):
        assert our.device.type == "cpu"
        assert torch.equal(our, their)


def test_parts_are_views() -> None:
    made = coo("dl")
    made._values().mul_(2)
    assert torch.equal(made.to_dense().cpu(), 2 * coo("cpu").to_dense())


def test_an_output_is_written_into() -> None:
    out = torch.empty(5, 5, device="dl")
    assert torch.mm(coo("dl"), wide("dl"), out=out) is out
    torch.testing.assert_close(out.cpu(), coo("cpu") @ wide("cpu"))


def test_a_sparse_output_of_a_fallback_is_written_into() -> None:
    out = torch.zeros(5, 4).to("dl").to_sparse_csr()
    assert torch.add(csr("dl"), csr("dl"), out=out) is out
    assert torch.equal(out.to_dense().cpu(), 2 * DENSE)


def test_sparse_tensors_are_saved() -> None:
    file = io.BytesIO()
    torch.save(hybrid("dl"), file)
    file.seek(0)
    assert_alike(torch.load(file), hybrid("cpu"))


def test_they_print() -> None:
    assert "device='dl:0'" in str(coo("dl"))
    assert "crow_indices" in str(csr("dl"))


def of_product(matrix: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    return torch.sparse.mm(matrix, other).sin()


def of_sum(matrix: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    return torch.sparse.sum(matrix, 0).to_dense().sin() + other.sum()


def of_conversion(matrix: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    return matrix.to_dense().sin().t() * other


# torch.sparse.sum does not support compressed tensors.
@pytest.mark.parametrize(
    ("make", "function"),
    [
        *((joined, function) for function in (of_product, of_sum, of_conversion)),
        *((csr, function) for function in (of_product, of_conversion)),
    ],
)
def test_gradients(
    make: Make, function: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
) -> None:
    found = []
    for device in ("dl", "cpu"):
        matrix = make(device).requires_grad_()
        other = wide(device).requires_grad_()
        function(matrix, other).sum().backward()
        assert matrix.grad is not None
        assert other.grad is not None
        found.append((matrix.grad.to_dense().cpu(), other.grad.cpu()))
    torch.testing.assert_close(*found)


def test_gradient_of_a_dense_tensor_made_sparse() -> None:
    found = []
    for device in ("dl", "cpu"):
        given = dense(device).requires_grad_()
        torch.sparse.sum(given.to_sparse() * 2).backward()
        assert given.grad is not None
        found.append(given.grad.to_dense().cpu())
    torch.testing.assert_close(*found)


OPTIMIZERS: dict[str, Callable[..., torch.optim.Optimizer]] = {
    "SGD": lambda p: torch.optim.SGD(p, lr=0.1),
    "SGD with momentum": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9),
    "SparseAdam": lambda p: torch.optim.SparseAdam(list(p), lr=0.1),
    "Adagrad": lambda p: torch.optim.Adagrad(p, lr=0.1),
}
TABLES: dict[str, Callable[[], nn.Module]] = {
    "Embedding": lambda: nn.Embedding(6, 3, sparse=True),
    "Embedding with padding": lambda: nn.Embedding(6, 3, sparse=True, padding_idx=2),
    "EmbeddingBag": lambda: nn.EmbeddingBag(6, 3, sparse=True),
    "EmbeddingBag of sums": lambda: nn.EmbeddingBag(6, 3, mode="sum", sparse=True),
}


def trained(device: str, table: nn.Module, make: Callable[..., torch.optim.Optimizer]) -> nn.Module:
    table = copy.deepcopy(table).to(device)
    optimizer = make(table.parameters())
    for row in ([[0, 1], [2, 2]], [[5, 1], [0, 4]], [[2, 3], [3, 3]]):
        optimizer.zero_grad()
        table(torch.tensor(row, device=device)).sin().sum().backward()
        assert table.weight.grad.is_sparse
        optimizer.step()
    return table


@pytest.mark.parametrize("optimizer", OPTIMIZERS.values(), ids=OPTIMIZERS)
@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_sparse_gradients_train(
    table: Callable[[], nn.Module], optimizer: Callable[..., torch.optim.Optimizer]
) -> None:
    torch.manual_seed(0)
    start = table()
    ours, theirs = (trained(device, start, optimizer) for device in ("dl", "cpu"))
    torch.testing.assert_close(ours.weight.detach().cpu(), theirs.weight.detach())
    assert not torch.equal(theirs.weight, start.weight)


@pytest.mark.vendor("cpu")
def test_embeddings_with_sparse_gradients_run_natively() -> None:
    table = nn.Embedding(6, 3, sparse=True).to("dl")
    torch.dl.reset_fallback_stats()
    table(torch.tensor([[0, 1], [2, 2]], device="dl")).sum().backward()
    torch.optim.SGD(table.parameters(), lr=0.1).step()
    assert torch.dl.fallback_stats() == {}


REFUSED: dict[str, Callable[[], object]] = {
    "sort": lambda: coo("dl").sort(),
    "cumsum": lambda: coo("dl").cumsum(0),
    "view": lambda: coo("dl").view(-1),
    "comparison": lambda: coo("dl") == 0,
    "equal": lambda: torch.equal(coo("dl"), coo("dl")),
}


@pytest.mark.parametrize("call", REFUSED.values(), ids=REFUSED)
def test_what_no_kernel_takes_is_refused_in_our_words(call: Callable[[], object]) -> None:
    with pytest.raises(NotImplementedError, match=r"\[dl\].*sparse.*x\.to_dense\(\)") as caught:
        call()
    assert "Could not run" not in str(caught.value)


def test_operands_of_several_devices_are_refused() -> None:
    with pytest.raises(RuntimeError, match=r"same device.*dl:0 and cpu"):
        torch.sparse.mm(coo("cpu"), wide("dl"))


def test_shapes_that_do_not_fit_are_refused_in_torchs_words() -> None:
    with pytest.raises(RuntimeError, match="Expected dim 0 size 4, got 5"):
        coo("dl") @ dense("dl")
