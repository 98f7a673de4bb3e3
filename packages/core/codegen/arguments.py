"""Conversion of the table's values to C++: the type of the parameter determines the
expression."""

from __future__ import annotations

import re

from contract import enumerators, is_output, match_values
from declarations import Declarations, Function
from model import Entry
from problems import EntryError, unknown
from rows import ELEMENTWISE, Use, Value

from diopi_proto.schema import Parameter

OUTPUT_HANDLE = "diopiTensorHandle_t"
INPUT_HANDLE = "diopiConstTensorHandle_t"
INPUT_ARRAY = "diopiConstTensorHandle_t*"
SCALAR = "const diopiScalar_t*"
RESULT_DTYPE = "result_dtype"
"""In a plan: the requested dtype or, if there is none, the dtype of the out= tensor."""
GIVEN = "given"
"""In a condition of an elementwise operator: the out= tensor; undefined in the other forms."""


def literal_number(value: Value) -> str | None:
    """Return the C++ literal of a value if it is the same for every parameter type."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int | float) else None


class CallArguments:
    """Arguments of one contract call, and the local variables that hold them."""

    def __init__(
        self, entry: Entry, call: Use, declarations: Declarations, *, scalar: bool = False
    ) -> None:
        self.entry, self.function, self.scalar = entry, call.name, scalar
        self.members = declarations.values.get(entry.values or "", {})
        self.types = entry.argument_types()
        self.elementwise = entry.rule in ELEMENTWISE
        self.locals: list[str] = []
        self.arguments = [self._pass(parameter, value) for parameter, value in match_values(call)]

    def _local(self, text: str) -> None:
        if text not in self.locals:
            self.locals.append(text)

    def _pass(self, parameter: Parameter, value: Value) -> str:
        if is_output(value) and value not in self.types:
            return self._output(parameter, str(value))
        if isinstance(value, str):
            if self.elementwise and value in self.entry.operands:
                return self._operand(value)
            if value.startswith("plan."):
                return self._planned(parameter, value.removeprefix("plan."))
            if value in self.types:
                return self._argument(parameter, value, self.types[value])
        return self._literal(parameter, value)

    def _output(self, parameter: Parameter, name: str) -> str:
        if parameter.allocated_by == "vendor":
            self._local("diopiTensorHandle_t required = nullptr;")
            return "&required"
        if parameter.type != OUTPUT_HANDLE:
            raise EntryError(f"{name!r} cannot be {parameter.name}, which is an input")
        if self.elementwise:
            self._local("OutputHandle out_handle(plan.target());")
            return "out_handle.get()"
        index = name.removeprefix("out") or "0"
        kind = "OptionalOutputHandle" if parameter.nullable else "OutputHandle"
        self._local(f"{kind} out{index}_handle(plan.out({index}));")
        return f"out{index}_handle.get()"

    def _operand(self, name: str) -> str:
        index = self.entry.operands.index(name)
        by_scalar = self.entry.rule in ("binary_scalar", "comparison_scalar")
        if index == 1 and (self.scalar or by_scalar):
            return "plan.rounded_scalar()" if name in self.entry.row.rounded else "plan.scalar()"
        return f"TensorHandle(plan.{('self', 'other', 'third')[index]}()).get()"

    def _planned(self, parameter: Parameter, name: str) -> str:
        if name not in self.members:
            known = [f"plan.{member}" for member in self.members]
            raise unknown(f"plan.{name}", "value that the plan computes", known)
        value = f"values.{name}"
        ways = {
            ("DimVector", "diopiSize_t"): f"to_size({value})",
            ("at::Tensor", INPUT_HANDLE): f"TensorHandle({value}).get()",
            ("int64_t", "int64_t"): value,
            ("double", "double"): value,
            ("std::optional<int64_t>", "const int64_t*"): f"{value} ? &*{value} : nullptr",
        }
        return self._way(ways, self.members[name], parameter, f"plan.{name}")

    def _argument(self, parameter: Parameter, name: str, kind: str) -> str:
        written = parameter.type == OUTPUT_HANDLE
        if kind in ("Tensor", "Tensor?") and written:
            self._local(
                f"{'Optional' if kind.endswith('?') else ''}OutputHandle {name}_handle({name});"
            )
            return f"{name}_handle.get()"
        if kind == "Tensor[]" and parameter.type == INPUT_ARRAY:
            self._local(f"const HandleList {name}_handles({name});")
            return f"{name}_handles.data(), {name}_handles.size()"
        if kind == "Scalar" and parameter.type == SCALAR:
            if self.entry.rule == "in_place":
                # The scalar is converted to the dtype of the elements, as torch does.
                return f"to_stored(self, {name}).get()"
            made = f"to_scalar({name})"
            if name in self.entry.row.rounded:
                made = f"round_scalar({name}, plan.common_type())"
            self._local(f"const diopiScalar_t {name}_scalar = {made};")
            return f"&{name}_scalar"
        if kind == "Scalar?" and parameter.type == SCALAR:
            self._local(f"const OptionalScalar {name}_scalar({name});")
            return f"{name}_scalar.get()"
        if kind == "str" and parameter.type == "const char*":
            self._local(f"const std::string {name}_text({name});")
            return f"{name}_text.c_str()"
        if kind == "Generator?" and parameter.type == "diopiGeneratorHandle_t":
            self._local(f"GeneratorHandle {name}_handle({name}, plan.device());")
            return f"{name}_handle.get()"
        if kind == "Scalar" and parameter.type == "double" and name in self.entry.row.rounded:
            return f"round_scalar(at::Scalar({name}.toDouble()), plan.common_type()).fval"
        # int[2] and SymInt[1] are lists of integers.
        kind = re.sub(r"\[\d*\]$", "[]", kind.replace("SymInt", "int"))
        or_null = f"{name} ? &*{name} : nullptr"
        ways = {
            ("Tensor", INPUT_HANDLE): f"TensorHandle({name}).get()",
            ("Tensor?", INPUT_HANDLE): f"OptionalHandle({name}).get()",
            ("int[]", "diopiSize_t"): f"to_size({name})",
            ("Scalar", "double"): f"{name}.toDouble()",
            ("Scalar", "const double*"): f"stored_double(self, {name}).get()",
            ("int", "int64_t"): name,
            ("int", "int32_t"): f"static_cast<int32_t>({name})",
            ("int", "const int64_t*"): f"&{name}",
            ("int", "diopiReduction_t"): f"static_cast<diopiReduction_t>({name})",
            ("int?", "const int64_t*"): or_null,
            ("bool", "bool"): name,
            ("bool?", "const bool*"): or_null,
            ("float", "double"): name,
            ("float", "const double*"): f"&{name}",
            ("float?", "const double*"): or_null,
            ("str?", "diopiRoundMode_t"): f"round_mode({name})",
        }
        return self._way(ways, kind, parameter, name)

    @staticmethod
    def _way(ways: dict[tuple[str, str], str], kind: str, parameter: Parameter, name: str) -> str:
        way = ways.get((kind, parameter.type))
        if way is None:
            raise EntryError(
                f"{name} is {kind} and {parameter.name} takes {parameter.type}: "
                "let the plan compute a value of that type"
            )
        return way

    def _literal(self, parameter: Parameter, value: Value) -> str:
        if value is None:
            if not parameter.nullable:
                raise EntryError(f"{parameter.name} cannot be null")
            return "nullptr"
        written = literal_number(value)
        if written is not None:
            if parameter.value_type == "int64_t":
                return f"int64_t{{{written}}}"
            if parameter.value_type in ("bool", "double", "float", "int32_t"):
                return written
        if isinstance(value, str):
            if parameter.type == "const char*" and (
                value in parameter.values or not parameter.values
            ):
                return f'"{value}"'
            words = enumerators().get(parameter.value_type, ())
            if value in words:
                return value
            known = [*self.types, *self.entry.output_names, *(f"plan.{m}" for m in self.members)]
            raise unknown(value, f"value for {parameter.name}", [*parameter.values, *words, *known])
        raise EntryError(
            f"{value!r} is not a value for {parameter.name}, which takes {parameter.type}"
        )

    def run(self, function: str) -> str:
        return f'call.run("{self.function}", {function}, {", ".join(self.arguments)})'


def cpp_arguments(
    use: Use, function: Function, entry: Entry, declarations: Declarations
) -> list[str]:
    """Return the arguments of a plan function, a condition, or a builder of results.

    :raises EntryError: the number of arguments is wrong, or one has the wrong type.
    """
    takes = [p.name for p in function.parameters]
    fits = len(use.values) == len(takes)
    if function.variadic:
        fits = len(use.values) > len(takes)
        takes.append("…")
    if not fits:
        raise EntryError(
            f"{use.name} takes {len(takes)} values ({', '.join(takes)}), not {len(use.values)}"
        )
    parameters = [*function.parameters]
    parameters += [function.parameters[-1]] * (len(use.values) - len(parameters))
    types = entry.argument_types()
    written = []
    for parameter, value in zip(parameters, use.values, strict=True):
        pointer = parameter.type.endswith("*")
        plain = literal_number(value)
        if plain is not None:
            written.append(plain)
        elif value is None:
            written.append("nullptr" if pointer else "std::nullopt")
        elif isinstance(value, list):
            for name in value:
                if name not in types:
                    raise unknown(name, f"argument of {entry.op}", types)
            written.append("{" + ", ".join(value) + "}")
        elif value in types:
            written.append(f"&{value}" if pointer else str(value))
        elif value == GIVEN and entry.rule in ELEMENTWISE:
            written.append(GIVEN)
        elif value == "plan.dtype" and entry.rule in ELEMENTWISE:
            written.append("plan.common_type()")
        elif value == RESULT_DTYPE and entry.rule == "output" and "dtype" in types:
            written.append("plans::result_type(dtype, given)")
        elif value in declarations.enums.get(parameter.type, ()):
            written.append(f"{parameter.type}::{value}")
        else:
            words = declarations.enums.get(parameter.type, ())
            raise unknown(value, f"value for {parameter.name} of {use.name}", [*words, *types])
    return written
