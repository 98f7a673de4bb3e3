"""Functions of the library for this package, in addition to the driver's functions."""

from __future__ import annotations

from functools import cache
from typing import Any

from cffi import FFI

from .paths import library

DECLARATIONS = """
typedef struct dl_gpu_sim_module dl_gpu_sim_module;
const char* dl_gpu_sim_error(void);
const char* dl_gpu_sim_settings(const char* const* environment);
dl_gpu_sim_module* dl_gpu_sim_open(const char* ptx);
void dl_gpu_sim_close(dl_gpu_sim_module* module);
const char* dl_gpu_sim_describe(dl_gpu_sim_module* module);
unsigned long long dl_gpu_sim_put(dl_gpu_sim_module* module, const void* data, size_t size);
int dl_gpu_sim_take(dl_gpu_sim_module* module, unsigned long long address, void* data, size_t size);
int dl_gpu_sim_drop(dl_gpu_sim_module* module, unsigned long long address);
unsigned long long dl_gpu_sim_variable(dl_gpu_sim_module* module, const char* name);
const char* dl_gpu_sim_waits(void);
const char* dl_gpu_sim_launch(dl_gpu_sim_module* module, const char* kernel,
    const unsigned int* sizes, unsigned int dynamic_shared, int cooperative,
    unsigned long long seed, unsigned long long budget, const volatile int* stop,
    const void* params, size_t size);
"""


@cache
def load() -> tuple[Any, Any]:
    """Return the ``FFI`` and the library, which is loaded once."""
    ffi = FFI()
    ffi.cdef(DECLARATIONS)
    return ffi, ffi.dlopen(str(library()))
