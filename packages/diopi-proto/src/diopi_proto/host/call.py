"""Operators bound to a vendor instance, and their calls."""

from __future__ import annotations

from typing import Any

from ..errors import OperatorError, OperatorNotBoundError, OutOfMemoryError
from .cabi import constants, ffi
from .context import CallContext
from .frame import Frame
from .instance import Instance
from .plan import Plan, plan_for
from .streams import Stream
from .watch import Watch

_SUCCESS: int = constants.diopiSuccess


class BoundOperator:
    """Operator that is called with Python values.

    Tensors are :class:`diopi_proto.Tensor`; arrays of tensors are sequences, whose lengths give
    their counts; scalars are numbers; sizes are sequences of integers; enumerators are their names;
    None is NULL where the schema allows it. Values that only the vendor writes are returned, not
    passed.
    """

    def __init__(self, instance: Instance, name: str) -> None:
        self._instance = instance
        self._plan: Plan = plan_for(name)
        function = instance.function(self._plan.operator)
        if function is None:
            raise _not_bound(instance, name)
        self._function = ffi.cast(self._plan.function_type, function)

    @property
    def arguments(self) -> tuple[str, ...]:
        """Return the names of the parameters that the caller passes."""
        return self._plan.arguments

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        return self._plan.operator.doc

    def __call__(
        self,
        /,
        *arguments: Any,
        stream: Stream | None = None,
        device: int | None = None,
        synchronize: bool = True,
        **named: Any,
    ) -> Any:
        """Run the operator.

        :param stream: stream on which it is enqueued; None: the default stream.
        :param device: device of the call if no argument is on a device; default 0.
        :param synchronize: wait for the result; False: return once the call is enqueued. The
            arguments are kept alive until the stream is synchronized, which reading a result does.
        :returns: results of the vendor: None, one value, or a tuple in the order of the schema.
        :raises ArgumentError: a value does not fit; the operator was not called.
        :raises OperatorError: the operator returned an error, or synchronization found one in the
            error word of the stream, perhaps of an earlier call.
        :raises OutOfMemoryError: the host could not allocate memory for the operator.
        :raises StrayWriteError: it wrote outside of its outputs, and calls are guarded.
        :raises VendorError: synchronization failed.
        :raises ClosedError: the vendor was closed.
        """
        instance, plan = self._instance, self._plan
        name = plan.operator.name
        if device is None and stream is not None:
            device = stream.device
        frame = Frame(instance, name, device)
        passed, results = plan.prepare(frame, plan.bind(arguments, named))
        used = instance.check_device(frame.device or 0, name)
        queue = stream.pointer_for(instance, used) if stream is not None else ffi.NULL
        guard = instance.guard
        instance.lifetime.hold()
        try:
            watch = None if guard is None else Watch(plan.operator, frame, guard.salt)
            with frame.generators_held(), CallContext(instance, used, queue) as context:
                instance.make_current(used)
                code = int(self._function(context.handle, *passed))
                reason = "" if code == _SUCCESS else instance.last_error(name)
            instance.enqueued(used, queue, [*frame.tensors, *context.required.values(), stream])
            if watch is not None:
                try:
                    instance.wait(used, queue)
                except OperatorError:
                    watch.check(True, context.required.values())
                    raise
                watch.check(code == _SUCCESS, context.required.values())
            if code != _SUCCESS:
                raise _error(instance, name, code, reason, context) from context.failure
            if synchronize:
                instance.wait(used, queue)
            values = [result(context) for result in results]
        finally:
            instance.lifetime.drop()
        if not values:
            return None
        return values[0] if len(values) == 1 else tuple(values)

    def __repr__(self) -> str:
        shown = ", ".join(self._plan.arguments)
        return f"<{self._plan.operator.name}({shown}) of vendor {self._instance.name}>"


def _error(
    instance: Instance, name: str, code: int, reason: str, context: CallContext
) -> OperatorError | OutOfMemoryError:
    symbol = ffi.typeof("diopiError_t").elements.get(code, "unknown code")
    # The host returned only an error code to the operator; the reason is stored here.
    said = [reason.removeprefix(f"[{name}] "), str(context.failure or "")]
    message = (
        f"[{name}] {'; '.join(filter(None, said)) or 'no reason given'} ({symbol}, code {code}; "
        f"vendor {instance.name}, device {context.device})"
    )
    if isinstance(context.failure, MemoryError):
        return OutOfMemoryError(
            message, code=constants.DL_OUT_OF_MEMORY, operation=name, vendor=instance.name
        )
    return OperatorError(message, code=code, operator=name, vendor=instance.name, reason=reason)


def _not_bound(instance: Instance, name: str) -> OperatorNotBoundError:
    why = instance.mismatched.get(name) or f"vendor {instance.name} does not implement it"
    return OperatorNotBoundError(
        f"[{name}] {why}",
        code=constants.diopiNoImplement,
        operator=name,
        vendor=instance.name,
        reason=why,
    )
