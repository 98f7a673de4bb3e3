"""The views, queries and helpers that expressions can call.

Kinds of values: ``tensor``, ``tensors`` (a list), ``scalar`` (a number with a dtype, as operators
take it), ``ints``, ``bools``, ``doubles``, ``dtype``, ``string``, ``bool``, ``int``, ``double``,
``generator``, ``optional_int``, ``optional_double`` and ``optional_bool`` (a pointer that may be
NULL), ``object`` (of the library, such as an operator's descriptor), ``slot`` (where the operator
stores a tensor that it allocates), ``action`` (work that runs in the order of the calls), ``null``.

A kind in a signature may end with ``?`` (the argument can be left out or is NULL), with ``&`` (a
tensor that an action writes) or, as the last one, with ``*`` (any number of them).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

KINDS = frozenset(
    [
        "tensor",
        "tensors",
        "scalar",
        "ints",
        "bools",
        "doubles",
        "dtype",
        "string",
        "bool",
        "int",
        "double",
        "generator",
        "optional_int",
        "optional_double",
        "optional_bool",
        "object",
        "slot",
        "action",
        "null",
    ]
)


@dataclass(frozen=True, slots=True)
class Helper:
    """A C++ function that expressions can call.

    :ivar takes: kinds of its arguments.
    :ivar returns: kind of its result.
    :ivar function: the C++ function, with its namespace.
    :ivar context: the C++ function takes the call of the operator first.
    :ivar doc: one line for the reference.
    """

    takes: tuple[str, ...]
    returns: str
    function: str
    context: bool = False
    doc: str = ""


def _table(namespace: str, lines: str, context: bool = False) -> dict[str, Helper]:
    found = {}
    for line in lines.strip().splitlines():
        signature, doc = (x.strip() for x in line.split("#", 1))
        head, returns = signature.rsplit("->", 1)
        name, kinds = head.strip().removesuffix(")").split("(")
        takes = tuple(x.strip() for x in kinds.split(",") if x.strip())
        found[name] = Helper(takes, returns.strip(), f"{namespace}::{name}", context, doc)
    return found


# Functions without @: they cost nothing, because a view shares the memory of its tensor.
VIEWS: Mapping[str, Helper] = _table(
    "dl::kit::library",
    """
    dtype(tensor) -> dtype                  # dtype of a tensor
    ndim(tensor) -> int                     # number of dimensions
    size(tensor, int) -> int                # one size; negative dimensions count from the last
    numel(tensor) -> int                    # number of elements
    len(ints) -> int                        # number of entries
    count(tensors) -> int                   # number of tensors
    is_contiguous(tensor) -> bool           # row-major without gaps
    is_floating(tensor) -> bool             # float16, bfloat16, float32 or float64
    is_complex(tensor) -> bool              # complex64 or complex128
    is_integral(tensor) -> bool             # an integer or bool
    same_shape(tensor, tensor) -> bool      # equal sizes
    t(tensor) -> tensor                     # the last two dimensions exchanged
    transposed(tensor, int, int) -> tensor  # two dimensions exchanged
    moved_to_last(tensor, int) -> tensor    # one dimension after all others
    permuted(tensor, ints) -> tensor        # the dimensions in the given order
    flat(tensor) -> tensor                  # one dimension
    flat2d(tensor) -> tensor                # all dimensions but the last as one
    unsqueeze(tensor, int) -> tensor        # a dimension of size 1 before this one
    squeeze(tensor, int) -> tensor          # without this dimension, which has size 1
    select(tensor, int, int) -> tensor      # one entry of a dimension, which is removed
    slice(tensor, int, int, int, int) -> tensor  # dimension, start, end, step
    expanded(tensor, tensor) -> tensor      # broadcast to the shape of another tensor
    unfolded(tensor, int, int, int) -> tensor    # windows of a dimension: size, step
    reshaped(tensor, ints) -> tensor        # the given shape; -1 for one size to infer
    placed(tensor, int, int) -> tensor      # a vector as one of several dimensions: index, count
    lane0(tensor) -> tensor                 # first entry of the last dimension, without it
    real_part(tensor) -> tensor             # real parts of a complex tensor
    imaginary_part(tensor) -> tensor        # imaginary parts of a complex tensor
    bits_as_uint8(tensor) -> tensor         # a bool tensor as uint8
    first(tensor?, tensor?) -> tensor       # the first that is not NULL
    """,
)

# Functions with @, of the kit.
HELPERS: Mapping[str, Helper] = _table(
    "dl::kit::library",
    """
    scalar(double) -> scalar                # a number as a scalar
    scalar_like(double, tensor) -> scalar   # a number as a scalar of the tensor's dtype
    or_scalar(scalar?, double) -> scalar    # the scalar, or a number if it is NULL
    or_int(optional_int, int) -> int        # the first number; if it is NULL, the second
    or_double(optional_double, double) -> double  # the first number; if it is NULL, the second
    or_bool(optional_bool, bool) -> bool    # the first boolean; if it is NULL, the second
    number(scalar) -> double                # value of a scalar
    integer(scalar) -> int                  # value of a scalar; declines fractions
    sqrt(double) -> double                  # square root
    power(double, double) -> double         # power
    dims(ints, tensor) -> ints              # the dimensions; all of the tensor if there are none
    dim(optional_int) -> ints               # a list of one dimension; empty if it is NULL
    one_dim(optional_int, tensor) -> int    # the dimension, or 0 if it is NULL
    keepdim(tensor, tensor) -> bool         # input, output: they have equally many dimensions
    flat_if_null(tensor, optional_int) -> tensor  # the tensor, flat if there is no dimension
    shape(tensor) -> ints                   # the sizes
    tail(tensor, int) -> ints               # the sizes from a dimension on
    pair(ints) -> ints                      # two numbers; one number counts twice
    triple(ints) -> ints                    # three numbers; one number counts three times
    one(ints) -> ints                       # [1, number], for a window with a dimension more
    zero(ints) -> ints                      # [0, number]
    stride(ints, ints) -> ints              # the strides; the window's sizes if there are none
    ints(int*) -> ints                      # a list
    alike(tensors) -> bool                  # the tensors have equal sizes
    reduced(tensor, int) -> ints            # the sizes, with 1 in one dimension
    is_dense(ints) -> bool                  # windows without dilation: all numbers are 0 or 1
    mask(tensor?*) -> bools                 # which of the tensors are not NULL
    prefix(tensors, int) -> tensors         # the first tensors of a list
    flat_all(tensors) -> tensors            # each tensor of a list with one dimension
    list(tensor) -> tensors                 # a list of one tensor
    entry(tensors, int) -> tensor           # one tensor of a list
    """,
) | _table(
    "dl::kit::library",
    """
    ones_if_null(tensor?, tensor, int) -> tensor  # weight, or ones: one size, dtype
    ones_like(tensor) -> tensor             # a temporary of ones
    filled(dtype, ints, double) -> tensor   # a temporary with one value in all elements
    read_scalar(tensor) -> scalar           # the only element of a tensor; waits for the device
    read_ints(tensor) -> ints               # the integers of a tensor; waits for the device
    require_like(slot, tensor, int) -> tensor  # as require, like a tensor in a memory format
    require(slot, ints, dtype) -> tensor    # allocates a tensor for the caller, and stores it
    draw_bernoulli(generator, double, tensor&) -> action  # draws 0 and 1
    draw_bernoulli_of(generator, tensor, tensor&) -> action  # probabilities, draws
    draw_uniform(generator, double, double, tensor&) -> action  # uniform numbers of a range
    draw_normal(generator, double, double, tensor&) -> action  # normal numbers: mean, deviation
    draw_integers(generator, int, optional_int, tensor&) -> action  # integers of a range
    require_at_least(tensor, double) -> action  # declines smaller elements, and waits
    draw_permutation(generator, tensor&) -> action  # a permutation
    draw_multinomial(generator, tensor, bool, tensor&) -> action  # weights, replacement, categories
    """,
    context=True,
)
