"""Every error that this package raises. All derive from :class:`DiopiError`."""

from __future__ import annotations


class DiopiError(Exception):
    """Base of the package's errors."""


class BuildError(DiopiError):
    """A vendor library did not compile, or breaks a build rule."""


class VendorLoadError(DiopiError):
    """A vendor library cannot be loaded: missing, damaged, foreign, linked to torch, crashing."""


class AdaptorError(VendorLoadError):
    """The adaptor file of a vendor says something that cannot be; the message has file and line."""


class TrialUnavailableError(VendorLoadError):
    """No process could be started to try a library beforehand; it may be a good one."""


class TrialTimeoutError(VendorLoadError):
    """Trying a library took longer than it was given."""


class AbiMismatchError(VendorLoadError):
    """The library speaks another major version of the vendor interface, or breaks this one."""


class VendorError(DiopiError):
    """A call into a vendor's table failed.

    :ivar code: ``dl_code_t`` of the returned status.
    :ivar operation: what failed inside the vendor (``"posix_memalign"``), or the slot's name.
    :ivar vendor: name of the vendor.
    :ivar details: more than a sentence, in lines: a compiler's log. The message ends with it.
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
    """The vendor has no memory left (``DL_OUT_OF_MEMORY``)."""


class NotSupportedError(VendorError):
    """The vendor does not offer this (a NULL slot, or ``DL_NOT_SUPPORTED``)."""


class UnavailableError(VendorError):
    """No usable driver or device (``DL_UNAVAILABLE``)."""


class OperatorError(DiopiError):
    """An operator returned something else than ``diopiSuccess``.

    :ivar code: the ``diopiError_t`` it returned.
    :ivar operator: name of the operator, ``"diopiAdd"``.
    :ivar vendor: name of the vendor.
    :ivar reason: the vendor's own words, empty if it gave none.
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
    """An operator wrote where it must not; see :meth:`diopi_proto.Vendor.guard_calls`.

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
    """A value does not fit a parameter. Nothing was called.

    :ivar operator: name of the operator, or of the method that was called.
    :ivar parameter: name of the parameter; empty if the number of arguments is wrong.
    """

    def __init__(self, message: str, *, operator: str, parameter: str = "") -> None:
        super().__init__(message)
        self.operator = operator
        self.parameter = parameter


class ClosedError(DiopiError):
    """A vendor instance, or something of it, was used after it was closed."""
