"""The dtypes that an argument can have: facts about other dtypes change nothing."""

from __future__ import annotations

from functools import cache

from diopi_proto.schema import DTYPES, Operator, expand_dtypes
from diopi_proto.schema import load as load_schema
from dl_vendor_kit.library.expressions import Call, Expression, Name, Temporary
from dl_vendor_kit.library.helpers import VIEWS
from dl_vendor_kit.library.model import Case


@cache
def _operator(name: str) -> Operator | None:
    return load_schema().get(name)


def can_be(dtype: str, operator: str, case: Case, value: Expression) -> bool:
    """Return False if an argument of a case is known to have other dtypes only."""
    match value:
        case Temporary(name=name) if name in case.temporaries:
            literal = case.temporaries[name].text.split(" ", 1)[0]
            return literal not in DTYPES or literal == dtype
        case Name(name=name):
            return _parameter_can_be(dtype, operator, name)
        case Call(function=function, helper=False, arguments=(first, *_)) if (
            function in VIEWS and VIEWS[function].returns == "tensor" and function != "first"
        ):
            # A view has the dtype of its tensor; one that changes it is not a view of numbers.
            return function == "bits_as_uint8" or can_be(dtype, operator, case, first)
    return True


def _parameter_can_be(dtype: str, operator: str, name: str) -> bool:
    declared = _operator(operator)
    parameter = (
        None if declared is None else next((p for p in declared.params if p.name == name), None)
    )
    if declared is None or parameter is None or parameter.dtype is None:
        return True
    like = parameter.dtype.removeprefix("like ")
    if like != parameter.dtype:
        return _parameter_can_be(dtype, operator, like)
    try:
        return dtype in expand_dtypes(parameter.dtype, declared.dtypes)
    except ValueError:
        # The dtype follows from several parameters.
        return True
