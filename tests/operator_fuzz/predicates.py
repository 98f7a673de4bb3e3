"""Predicates of causes: what has to hold for a difference to be explained."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

import torch
from opinfo.relocate import Relocation
from opinfo.sweep import run, tensors_of
from torch.utils._pytree import tree_leaves

from diopi_proto.tolerance.torch_operators.comparison import same_elements, same_values, to_host

from .calls import WHOLE, call_plainly
from .elements import Pair, differing, has_infinite_or_nan_input, inputs
from .elements import infinite_or_nan as is_infinite_or_nan
from .judge import Difference


def cpu_raises(pattern: str, difference: Difference) -> bool:
    return bool(re.search(pattern, str(difference.cpu.error)))


def raises(pattern: str, difference: Difference) -> bool:
    return bool(re.search(pattern, str(difference.got.error)))


def infinite_or_nan(difference: Difference) -> bool:
    """Return True if one of both is infinite or nan wherever they differ."""
    return all(map(is_infinite_or_nan, differing(difference)))


def from_infinities(difference: Difference) -> bool:
    """Return True if the elements that differ are infinite or nan, and so is an argument."""
    return has_infinite_or_nan_input(difference) and infinite_or_nan(difference)


def in_complex_numbers(difference: Difference) -> bool:
    return all(pair.cpu.is_complex() for pair in differing(difference)) and infinite_or_nan(
        difference
    )


def cpu_is_nan(difference: Difference) -> bool:
    return all(pair.all(pair.cpu.isnan()) for pair in differing(difference))


def within(relative: float, difference: Difference) -> bool:
    """Return True if both agree to this precision wherever the CPU is finite."""
    return all(
        pair.all(_near(pair, relative) | ~pair.cpu.isfinite()) for pair in differing(difference)
    )


def _near(pair: Pair, relative: float) -> torch.Tensor:
    return (pair.got - pair.cpu).abs() <= relative * (1 + pair.cpu.abs())


def within_or_not_finite(relative: float, difference: Difference) -> bool:
    """Return True if both agree to this precision wherever both are finite."""
    return all(
        pair.all(_near(pair, relative) | ~pair.cpu.isfinite() | ~pair.got.isfinite())
        for pair in differing(difference)
    )


def within_narrowest(ulps: float, difference: Difference) -> bool:
    """Return True if both agree to a few roundings of an argument that is narrower than the result.

    The reference widens every argument, and so misses the rounding of what is computed from it.
    """
    narrow = max((torch.finfo(x.dtype).eps for x in inputs(difference)), default=0.0)
    first = tensors_of(difference.call.arguments)
    if first and takes_integers(difference):  # these are computed in the default dtype
        narrow = max(narrow, torch.finfo(torch.float32).eps)
    pairs = list(differing(difference))
    results = [x.cpu.dtype for x in pairs if x.cpu.is_floating_point() or x.cpu.is_complex()]
    widest = min((torch.finfo(dtype).eps for dtype in results), default=1.0)
    return widest < narrow and within(ulps * narrow, difference)


def in_ties(difference: Difference) -> bool:
    """Return True if only indices differ, and both name equal elements of the first argument."""
    source = to_host(tensors_of(difference.call.arguments)[0])
    call = difference.call
    dim = next((x for x in (*call.arguments[1], *call.arguments[2].values()) if type(x) is int), -1)
    for pair in differing(difference):
        if pair.cpu.dtype != torch.int64:
            return False
        # The buffer that out= is a window of: the window itself is among the pairs.
        if pair.cpu.dim() not in (source.dim(), source.dim() - 1, 0):
            continue
        if (
            pair.cpu.dim()
            and any(size not in (*source.shape, 1) for size in pair.cpu.shape)
            and difference.call.form == "out"
        ):
            continue
        if not _name_equal_elements(source, pair, (dim, *range(source.dim()))):
            return False
    return True


def _name_equal_elements(source: torch.Tensor, pair: Pair, dims: Iterable[int]) -> bool:
    """Return True if along one of the dimensions both indices lead to equal elements."""
    if source.dim() == 0:
        return True
    for dim in dims:
        if not -source.dim() <= dim < source.dim():
            continue
        got, cpu = pair.got, pair.cpu
        if got.dim() < source.dim():
            got, cpu = got.unsqueeze(dim), cpu.unsqueeze(dim)
        try:
            left, right = source.gather(dim, got), source.gather(dim, cpu)
        except (IndexError, RuntimeError):
            continue
        if bool(same_elements(left, right).all()):
            return True
    flat = source.flatten()
    if int(pair.got.max()) >= flat.numel() or int(pair.got.min()) < 0:
        return False
    return bool(same_elements(flat[pair.got], flat[pair.cpu.clamp(0, flat.numel() - 1)]).all())


def name_equal_elements_of_planes(difference: Difference) -> bool:
    """Return True if only indices into the planes of the first argument differ, whose elements are
    equal."""
    source = to_host(tensors_of(difference.call.arguments)[0])
    for pair in differing(difference):
        dims = int(difference.call.target.name[-2])
        if pair.cpu.dtype != torch.int64 or pair.cpu.dim() != source.dim():
            return False
        planes = source.flatten(-dims)
        left, right = (planes.gather(-1, x.flatten(-dims)) for x in (pair.got, pair.cpu))
        if not bool(same_elements(left, right).all()):
            return False
    return True


def products_leave_the_range(difference: Difference) -> bool:
    """Return True if partial products of the arguments overflow or underflow in some order."""
    for tensor in inputs(difference):
        if tensor.is_complex():
            tensor = tensor.abs()
        info = torch.finfo(tensor.dtype)
        logs = tensor.double().abs().nan_to_num(0, 0, 0)
        logs = logs[logs > 0].log2()
        above, below = float(logs.clamp_min(0).sum()), float(logs.clamp_max(0).sum())
        if above > math.log2(info.max) or below < math.log2(info.smallest_normal):
            return True
        if not bool(tensor.isfinite().all()) and bool((tensor == 0).any()):
            return True
    return False


def writes_to_shared_memory(difference: Difference) -> bool:
    """Return True if the call writes to a tensor of which several elements share memory."""
    before = tensors_of(difference.call.arguments)
    after = tensors_of(difference.cpu.arguments)
    return any(
        _overlaps(old) and not same_values(to_host(old), to_host(new))
        for old, new in zip(before, after, strict=True)
    )


def _overlaps(tensor: torch.Tensor) -> bool:
    if tensor.layout != torch.strided:
        return False
    return any(
        size > 1 and stride == 0 for size, stride in zip(tensor.shape, tensor.stride(), strict=True)
    )


def is_deficient(difference: Difference) -> bool:
    """Return True if a matrix of the call has equal rows or columns, or infinities."""
    for tensor in inputs(difference):
        if tensor.dim() < 2 or tensor.numel() == 0:
            continue
        matrices = tensor.flatten(0, -3) if tensor.dim() > 2 else tensor.unsqueeze(0)
        if not bool(matrices.isfinite().all()):
            return True
        wide = torch.complex128 if matrices.is_complex() else torch.float64
        ranks = torch.linalg.matrix_rank(matrices.to(wide), rtol=1e-6)
        if bool((ranks < min(matrices.shape[-2:])).any()):
            return True
    return False


def strides_address_nothing(difference: Difference) -> bool:
    """Return True if strides differ in dimensions of size 1 alone, or in tensors without elements,
    and the CPU's are not the meta kernel's either."""
    found = re.search(r"CPU (\(.*?\)), meta (\(.*?\))$", difference.text)
    agrees_with_meta = found is not None and found[1] == found[2]
    return not agrees_with_meta and strides_of_size_1_differ(difference, or_of_empty=True)


def has_channels_last_volume(difference: Difference) -> bool:
    return any(
        x.dim() == 5 and x.is_contiguous(memory_format=torch.channels_last_3d)
        for x in tensors_of(difference.call.arguments)
    )


def takes_integers(difference: Difference) -> bool:
    first = tensors_of(difference.call.arguments)[0]
    return not (first.dtype.is_floating_point or first.dtype.is_complex)


def sequence_is_unsorted(difference: Difference) -> bool:
    """Return True if the boundaries, in the order of ``sorter``, do not increase."""
    found = tensors_of(difference.call.arguments)
    for tensor in found[:2]:
        rows = to_host(tensor)
        sorter = difference.call.arguments[2].get("sorter")
        if isinstance(sorter, torch.Tensor) and sorter.shape == rows.shape:
            rows = rows.gather(-1, to_host(sorter))
        if rows.dim() and bool((rows[..., 1:] < rows[..., :-1]).any() | (rows != rows).any()):
            return True
    return False


def offsets_leave_the_data(difference: Difference) -> bool:
    """Return True if an offset of segments is beyond the elements of the first argument."""
    first, _, names = difference.call.arguments
    offsets = names.get("offsets")
    size = first.shape[names.get("axis", 0)]
    return isinstance(offsets, torch.Tensor) and bool((to_host(offsets) > size).any())


def strides_of_size_1_differ(difference: Difference, *, or_of_empty: bool = False) -> bool:
    """Return True if strides differ only in dimensions of size 1.

    :param or_of_empty: those of tensors without elements may differ, too.
    """
    for got, cpu in zip(difference.got.leaves(), difference.cpu.leaves(), strict=True):
        if not isinstance(cpu, torch.Tensor) or (or_of_empty and cpu.numel() == 0):
            continue
        rows = zip(cpu.shape, got.stride(), cpu.stride(), strict=True)
        if any(size > 1 and left != right for size, left, right in rows):
            return False
    return True


def offsets_decrease(difference: Difference) -> bool:
    """Return True if an offset of the bags is less than the one before it."""
    offsets = difference.call.arguments[2].get("offsets")
    return isinstance(offsets, torch.Tensor) and bool((to_host(offsets).diff() < 0).any())


def is_singular_to_the_cpu(difference: Difference) -> bool:
    """Return True if the CPU meets a pivot that is 0 where dl's is rounding: its result is huge."""
    if not re.search("singular", str(difference.cpu.error)):
        return False
    sizes = [to_host(x).abs().double() for x in tensors_of(difference.got.result)]
    largest = max((float(x.nan_to_num(math.inf).max()) for x in sizes if x.numel()), default=0.0)
    return largest > 1e4


def has_contradicting_scales(difference: Difference) -> bool:
    """Return True if an interpolation is given its output size and scales besides."""
    names = difference.call.arguments[2]
    scales = any(names.get(name) is not None for name in ("scales_h", "scales_w", "scales"))
    return scales and names.get("output_size") is not None


def has_extreme_order(difference: Difference) -> bool:
    """Return True if a norm or derivative has an order beyond 1000, below 1/1000, or NaN."""
    orders = _numbers(difference)
    return any(x != x or abs(x) > 1000 or 0 < abs(x) < 1e-3 for x in orders)


def _numbers(difference: Difference) -> list[int | float]:
    """Return the numbers among the arguments after the first."""
    return [x for x in tree_leaves(difference.call.arguments[1:]) if type(x) in (int, float)]


def cancels(difference: Difference) -> bool:
    """Return True if the results differ by rounding of the largest argument alone."""
    largest = max((float(x.abs().max()) for x in inputs(difference) if x.numel()), default=0.0)
    return all(
        pair.all((pair.got - pair.cpu).abs() <= 256 * torch.finfo(pair.cpu.dtype).eps * largest)
        for pair in differing(difference)
        if pair.cpu.is_floating_point()
    )


def has_huge_arguments(difference: Difference) -> bool:
    return any(bool((x.abs() > 1e30).any()) for x in inputs(difference))


def has_tiny_exponents(difference: Difference) -> bool:
    exponents = inputs(difference)[0].abs()
    return bool(((exponents > 0) & (exponents < 1e-6)).any())


def has_unusable_coordinates(difference: Difference) -> bool:
    """Return True if the grid has coordinates that no integer holds."""
    grid = inputs(difference)[1]
    return not bool((grid.abs() < 2.0**20).all())


def raises_alike_without_out(difference: Difference) -> bool:
    """Return True if both devices raise the same class of error without ``out=``."""
    call = difference.call
    if call.form != "out":
        return False
    first, args, kwargs = call.arguments
    plain = (first, args, {k: v for k, v in kwargs.items() if k not in ("out", WHOLE)})
    device = str(next(x.device for x in tensors_of(difference.got.arguments)))
    outcomes = [
        run(call_plainly(call.target.forms["out"]), Relocation(where)(plain))
        for where in ("cpu", device)
    ]
    return type(outcomes[0].error) is type(outcomes[1].error) is type(difference.cpu.error)


def lies_at_a_pole(difference: Difference) -> bool:
    """Return True if dl is infinite or nan wherever they differ, and arguments are integers below
    zero, as all large numbers are."""
    numbers = [x for x in tensors_of(difference.call.arguments) if not x.is_complex()]
    below = any(bool(((x < 0) & (x == x.floor())).any()) for x in map(to_host, numbers))
    return below and all(pair.all(~pair.got.isfinite()) for pair in differing(difference))


def powers_overflow(difference: Difference) -> bool:
    """Return True if squares of finite arguments, or higher powers that the call names, overflow or
    underflow."""
    powers = (x for x in _numbers(difference) if x == x)
    highest = max([2.0, *(min(abs(float(x)), 1000.0) for x in powers)])
    for tensor in inputs(difference):
        sizes = tensor.abs().double() if not tensor.is_complex() else tensor.abs()
        sizes = sizes[sizes.isfinite() & (sizes > 0)]
        # Half types are computed in float32.
        largest = torch.finfo(torch.promote_types(tensor.dtype, torch.float32)).max
        limit = largest ** (1 / highest) / 8
        if sizes.numel() and bool((sizes > limit).any() | (sizes < 1 / limit).any()):
            return True
    return False


def has_strided_parameters(difference: Difference) -> bool:
    parameters = tensors_of(difference.call.arguments[1])
    return any(x.dim() == 1 and not x.is_contiguous() for x in parameters)


def has_large_degrees(difference: Difference) -> bool:
    """Return True if a degree, the second argument, is 1000 or more, or NaN."""
    first, rest, _ = difference.call.arguments
    degrees = rest[0] if rest else first
    return isinstance(degrees, torch.Tensor) and not bool((to_host(degrees).abs() < 1000).all())


def has_negative_scalar(difference: Difference) -> bool:
    """Return True if an argument is a float below zero."""
    leaves = tree_leaves(difference.call.arguments)
    return any(type(x) is float and x < 0 for x in leaves)


def is_closer_than_the_cpu(difference: Difference) -> bool:
    """Return True if dl is finite where the CPU leaves the range, or is finite and not 0
    everywhere that they differ."""
    return all(
        pair.all(pair.got.isfinite() & (pair.got != 0)) or pair.all(~pair.cpu.isfinite())
        for pair in differing(difference)
    )


def has_infinite_scalar(difference: Difference) -> bool:
    leaves = tree_leaves(difference.call.arguments)
    return any(type(x) is float and not math.isfinite(x) for x in leaves)
