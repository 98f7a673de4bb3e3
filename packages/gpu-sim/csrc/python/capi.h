#pragma once

#include <cstddef>

/**
 * C functions for the Python package. A returned string is valid until the thread's next call. A
 * null pointer means failure; dl_gpu_sim_error() then returns the message.
 */
extern "C" {

typedef struct dl_gpu_sim_module dl_gpu_sim_module;

const char* dl_gpu_sim_error(void);
/**
 * Return the settings of launches as JSON, read from an environment (strings NAME=VALUE, terminated
 * by a null pointer): seed, and steps, where 0 means the default.
 */
const char* dl_gpu_sim_settings(const char* const* environment);
dl_gpu_sim_module* dl_gpu_sim_open(const char* ptx);
void dl_gpu_sim_close(dl_gpu_sim_module* module);

/** Kernels as JSON: name, registers, shared memory, parameters, opcodes, unsupported ones. */
const char* dl_gpu_sim_describe(dl_gpu_sim_module* module);

/** Allocate device memory with a copy of `data`; uninitialised if it is null. 0: out of memory. */
unsigned long long dl_gpu_sim_put(dl_gpu_sim_module* module, const void* data, size_t size);
int dl_gpu_sim_take(dl_gpu_sim_module* module, unsigned long long address, void* data, size_t size);
int dl_gpu_sim_drop(dl_gpu_sim_module* module, unsigned long long address);
/** Return the address of a variable of the module, or 0 if it does not exist. */
unsigned long long dl_gpu_sim_variable(dl_gpu_sim_module* module, const char* name);

/** Return the number of calls of a driver function (without _v2) in this process. */
unsigned long long dl_gpu_sim_calls(const char* name);
/** Return the number of waits of this process for a device, by driver call, as JSON. */
const char* dl_gpu_sim_waits(void);

/**
 * Run a kernel to its end. `sizes` are three sizes of the grid and three of the block; `params` are
 * the parameters as stored in memory. If another thread sets `stop`, the kernel ends early and
 * counts as failed. Returns JSON: outcome, output, instructions, findings.
 */
const char* dl_gpu_sim_launch(dl_gpu_sim_module* module, const char* kernel,
                              const unsigned int* sizes, unsigned int dynamic_shared,
                              int cooperative, unsigned long long seed, unsigned long long budget,
                              const volatile int* stop, const void* params, size_t size);
}
