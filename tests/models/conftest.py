"""The device for all tests in this folder, which fail without it instead of being skipped."""

from dl_torch_tests.models.fixtures import device, one_thread

__all__ = ["device", "one_thread"]
