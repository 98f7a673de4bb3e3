"""Predicates of causes that depend on the outcomes of a call."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

import torch

from diopi_proto.tolerance.torch_operators.comparison import same_elements, same_values, to_host
from dl_torch_tests.opinfo.relocate import Relocation
from dl_torch_tests.opinfo.sweep import run, tensors_of

from .arguments import is_deficient, overlaps, takes_integers
from .calls import WHOLE, call_plainly
from .elements import Pair, differing, has_infinite_or_nan_input, inputs
from .elements import infinite_or_nan as is_infinite_or_nan
from .judge import Difference


def cpu_raises(pattern: str, difference: Difference) -> bool:
    return bool(re.search(pattern, str(difference.cpu.error)))


def raises(pattern: str, difference: Difference) -> bool:
    return bool(re.search(pattern, str(difference.got.error)))


def result_bytes(difference: Difference) -> int:
    """Return the size of the CPU's results in bytes."""
    results = difference.cpu.leaves()
    return sum(x.nbytes for x in results if isinstance(x, torch.Tensor))


def infinite_or_nan(difference: Difference) -> bool:
    """Return True if one side is infinite or nan wherever they differ."""
    return all(map(is_infinite_or_nan, differing(difference)))


def overflows_in_another_order(difference: Difference) -> bool:
    """Return True if torch's CPU overflows, or has nearly the largest number where dl overflows."""
    return all(
        pair.all(
            ~pair.cpu.isfinite() | (pair.got.isinf() & (pair.cpu.abs() > _nearly_largest(pair)))
        )
        for pair in differing(difference)
    )


def _nearly_largest(pair: Pair) -> float:
    return torch.finfo(pair.cpu.dtype).max / 16


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

    The reference widens every argument, and therefore lacks the rounding of values derived from it.
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
        # The buffer around the window out=, which is itself among the pairs.
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


def writes_to_shared_memory(difference: Difference) -> bool:
    """Return True if the call writes to a tensor in which several elements share memory."""
    before = tensors_of(difference.call.arguments)
    after = tensors_of(difference.cpu.arguments)
    return any(
        overlaps(old) and not same_values(to_host(old), to_host(new))
        for old, new in zip(before, after, strict=True)
    )


def strides_address_nothing(difference: Difference) -> bool:
    """Return True if strides differ in dimensions of size 1 alone, or in tensors without elements,
    and the CPU's strides differ from the meta kernel's, too."""
    found = re.search(r"CPU (\(.*?\)), meta (\(.*?\))$", difference.text)
    agrees_with_meta = found is not None and found[1] == found[2]
    return not agrees_with_meta and strides_of_size_1_differ(difference, or_of_empty=True)


def strides_of_size_1_differ(difference: Difference, *, or_of_empty: bool = False) -> bool:
    """Return True if strides differ only in dimensions of size 1.

    :param or_of_empty: also accept strides of tensors without elements.
    """
    for got, cpu in zip(difference.got.leaves(), difference.cpu.leaves(), strict=True):
        if not isinstance(cpu, torch.Tensor) or (or_of_empty and cpu.numel() == 0):
            continue
        rows = zip(cpu.shape, got.stride(), cpu.stride(), strict=True)
        if any(size > 1 and left != right for size, left, right in rows):
            return False
    return True


def is_singular_to_one(difference: Difference) -> bool:
    """Return True if one device meets a pivot of 0 where the other device has a rounding error: the
    matrix is singular to its precision, or the other device's results are huge or not finite."""
    refused, computed = difference.cpu, difference.got
    if refused.error is None:
        refused, computed = computed, refused
    if not re.search(r"singular|U\[\d+,\d+\] is zero", str(refused.error)):
        return False
    sizes = [to_host(x).abs().double() for x in tensors_of(computed.result)]
    largest = max((float(x.nan_to_num(math.inf).max()) for x in sizes if x.numel()), default=0.0)
    return largest > 1e4 or is_deficient(difference)


def cancels(difference: Difference) -> bool:
    """Return True if the results differ by rounding of the largest finite argument alone."""
    return all(
        pair.all(_cancels(pair, difference))
        for pair in differing(difference)
        if pair.cpu.is_floating_point() or pair.cpu.is_complex()
    )


def cancels_where_finite(difference: Difference) -> bool:
    """Return True if, wherever the results differ, a result is not finite, or the difference is
    rounding of the largest finite argument alone."""
    return infinite_or_nan(difference) or (
        has_infinite_or_nan_input(difference)
        and all(
            pair.all(~pair.got.isfinite() | ~pair.cpu.isfinite() | _cancels(pair, difference))
            for pair in differing(difference)
        )
    )


def _cancels(pair: Pair, difference: Difference) -> torch.Tensor:
    """Return where both differ by a rounding of the largest finite argument or less."""
    sizes = [x.abs().nan_to_num(0.0, 0.0, 0.0).max() for x in inputs(difference) if x.numel()]
    allowed = 256 * torch.finfo(pair.cpu.dtype).eps * max(map(float, sizes), default=0.0)
    return (pair.got - pair.cpu).abs() <= allowed


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


def is_closer_than_the_cpu(difference: Difference) -> bool:
    """Return True if dl is finite where the CPU leaves the range, or is finite and not 0
    everywhere that they differ."""
    return all(
        pair.all(pair.got.isfinite() & (pair.got != 0)) or pair.all(~pair.cpu.isfinite())
        for pair in differing(difference)
    )


def agrees_with_a_copy(difference: Difference) -> bool:
    """Return True if an in-place call writes to another argument as well, and the result is the
    CPU's for separate arguments."""
    call = difference.call
    first, args, kwargs = call.arguments
    shared = [x.data_ptr() for x in tensors_of((args, kwargs))]
    if call.form != "in-place" or first.data_ptr() not in shared:
        return False
    plain = run(call_plainly(call.target.forms["function"]), Relocation()(call.arguments))
    if plain.error is not None:
        return False
    got, want = to_host(difference.got.leaves()[0]), plain.result
    pair = Pair(got, want, ~same_elements(got, want))
    return pair.all(_near(pair, 1024 * torch.finfo(want.dtype).eps) | ~want.isfinite())


def has_equal_rows_of_width_1(difference: Difference) -> bool:
    """Return True if the CPU's images are 1 wide, and their rows equal."""
    images = to_host(difference.cpu.leaves()[0])
    return images.shape[-1] == 1 and bool(same_elements(images, images[..., :1, :]).all())


def converts_expanded_operands(difference: Difference) -> bool:
    """Return True if an operand shares memory between its elements and is converted: its dtype is
    not the result's, or the operands' dtypes differ."""
    operands = tensors_of(difference.call.arguments)
    dtypes = {x.dtype for x in (*operands, *tensors_of(difference.cpu.result))}
    return len(dtypes) > 1 and any(map(overlaps, operands))
