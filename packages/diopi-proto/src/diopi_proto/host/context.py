"""Context of one call: the tensors and the error word that its operator requires."""

from __future__ import annotations

from ..dtypes import dtype_of
from ..errors import VendorError
from .cabi import constants, ffi
from .handle_ops import handle_ops, running
from .instance import Instance
from .layout import bytes_of, check_layout, contiguous_strides
from .storage import device_storage, fill_bands, host_storage
from .structs import CData, address
from .tensor import Tensor

_HOST: int = constants.diopi_host
_DEVICE: int = constants.diopi_device


class CallContext:
    """Context of a call; a context manager around the call.

    :ivar handle: ``diopiContextHandle_t``.
    :ivar required: tensors that the operator has allocated, by the address of their handle.
    :ivar stream: stream of the call.
    :ivar failure: exception of a callback; the operator only received an error code for it.
    """

    def __init__(self, instance: Instance, device: int, stream: CData) -> None:
        self.instance = instance
        self.device = device
        self.required: dict[int, Tensor] = {}
        self.failure: BaseException | None = None
        self.stream = stream
        self._may_leave_error = False
        prefix = ffi.new("dl_context_prefix_t*")
        prefix.magic = constants.DL_CONTEXT_MAGIC
        prefix.version = constants.DL_PREFIX_VERSION
        prefix.ops = handle_ops()
        prefix.stream = stream
        prefix.device_index = device
        prefix.host = instance.host.pointer
        prefix.vendor = instance.handle
        self._prefix = prefix
        self.handle: CData = ffi.cast("diopiContextHandle_t", prefix)
        self._before: CData = ffi.NULL

    def __enter__(self) -> CallContext:
        running[address(self.handle)] = self
        self._before = self.instance.enter(self.handle)
        return self

    def __exit__(self, *exception: object) -> None:
        self.instance.leave(self._before)
        del running[address(self.handle)]
        # All work that may write to the error word has been enqueued by now.
        if self._may_leave_error and self.instance.device_errors is not None:
            self.instance.device_errors.enqueued(self.device, self.stream)

    def error_word(self) -> CData:
        """Return the error word of the call's stream; NULL if the operator must check its data
        itself.
        """
        errors = self.instance.device_errors
        if errors is None:
            return ffi.NULL
        try:
            word = errors.word(self.device, self.stream)
        except VendorError:
            return ffi.NULL
        self._may_leave_error = True
        return word

    def require(
        self, sizes: list[int], strides: list[int] | None, dtype: int, device: int
    ) -> CData:
        """Return the handle of a new tensor that belongs to this context.

        :raises ValueError: the sizes, strides, dtype or device are invalid.
        :raises OutOfMemoryError: memory is exhausted.
        """
        kind = dtype_of(dtype)
        shape = tuple(sizes)
        steps = contiguous_strides(shape) if strides is None else tuple(strides)
        check_layout(shape, steps)
        nbytes = bytes_of(shape, steps, kind.itemsize)
        if device == _DEVICE:
            storage = device_storage(self.instance, self.device, nbytes)
        elif device == _HOST:
            storage = host_storage(self.instance, nbytes)
        else:
            raise ValueError(f"{device} is not a diopiDevice_t")
        if storage.band:
            fill_bands(storage)
        tensor = Tensor(storage, kind, shape, steps)
        self.required[address(tensor.handle)] = tensor
        return tensor.handle
