"""Every error that this package raises. All are subclasses of :class:`DiopiError`."""

from __future__ import annotations


class DiopiError(Exception):
    """Base of the package's errors."""


class BuildError(DiopiError):
    """A vendor library did not compile, or breaks a build rule."""


class VendorLoadError(DiopiError):
    """A vendor library cannot be loaded: missing, damaged, for another machine, linked to torch,
    crashing.
    """


class AdaptorError(VendorLoadError):
    """The adaptor file of a vendor is invalid; the message has file and line."""


class TrialUnavailableError(VendorLoadError):
    """The process for a library's trial could not be started. The library itself may work."""


class TrialTimeoutError(VendorLoadError):
    """The trial of a library exceeded its timeout."""


class AbiMismatchError(VendorLoadError):
    """The library has another major version of the vendor interface, or violates this one."""


class VendorError(DiopiError):
    """A call into a vendor's table failed.

    :ivar code: ``dl_code_t`` of the returned status.
    :ivar operation: the call that failed inside the vendor (``"posix_memalign"``), or the slot.
    :ivar vendor: name of the vendor.
    :ivar details: further lines at the end of the message, such as a compiler's log.
    """

    def __init__(
        self, message: str, *, code: int, operation: str, vendor: str, details: str = ""
    ) -> None:
        super().__init__(f"{message}\n{details}" if details else message)
        self.code = code
        self.operation = operation
        self.vendor = vendor
        self.details = details


class OutOfMemoryError(VendorError, MemoryError):
    """The vendor has run out of memory (``DL_OUT_OF_MEMORY``)."""


class NotSupportedError(VendorError):
    """The vendor does not support the call (a NULL slot, or ``DL_NOT_SUPPORTED``)."""


class UnavailableError(VendorError):
    """No usable driver or device is available (``DL_UNAVAILABLE``)."""


class OperatorError(DiopiError):
    """An operator returned a code other than ``diopiSuccess``.

    :ivar code: the ``diopiError_t`` it returned.
    :ivar operator: name of the operator, ``"diopiAdd"``.
    :ivar vendor: name of the vendor.
    :ivar reason: the vendor's message; empty if it gave none.
    """

    def __init__(
        self, message: str, *, code: int, operator: str, vendor: str, reason: str = ""
    ) -> None:
        super().__init__(message)
        self.code = code
        self.operator = operator
        self.vendor = vendor
        self.reason = reason


class StrayWriteError(DiopiError):
    """An operator wrote outside of its outputs; see :meth:`diopi_proto.Vendor.guard_calls`.

    :ivar operator: name of the operator.
    :ivar vendor: name of the vendor.
    """

    def __init__(self, message: str, *, operator: str, vendor: str) -> None:
        super().__init__(message)
        self.operator = operator
        self.vendor = vendor


class OperatorNotBoundError(OperatorError):
    """The vendor does not have the operator, or has it with another signature."""


class ArgumentError(DiopiError, TypeError):
    """A value does not fit a parameter. No operator was called.

    :ivar operator: name of the operator, or of the method that was called.
    :ivar parameter: name of the parameter; empty if the number of arguments is wrong.
    """

    def __init__(self, message: str, *, operator: str, parameter: str = "") -> None:
        super().__init__(message)
        self.operator = operator
        self.parameter = parameter


class ClosedError(DiopiError):
    """A vendor instance, or one of its objects, was used after the instance was closed."""
