#pragma once

#include <cstddef>

/**
 * What the Python package calls. A text that is returned lives until the next call of the thread;
 * a null pointer says that something went wrong, which dl_gpu_sim_error() then tells.
 */
extern "C" {

typedef struct dl_gpu_sim_module dl_gpu_sim_module;

const char* dl_gpu_sim_error(void);
/**
 * The settings of an environment, texts NAME=VALUE with a null pointer after them, which a launch
 * goes by, as JSON: seed, and steps, of which 0 is the standard number.
 */
const char* dl_gpu_sim_settings(const char* const* environment);
dl_gpu_sim_module* dl_gpu_sim_open(const char* ptx);
void dl_gpu_sim_close(dl_gpu_sim_module* module);

/** Kernels as JSON: name, registers, shared memory, parameters, opcodes, what is not supported. */
const char* dl_gpu_sim_describe(dl_gpu_sim_module* module);

/** Device memory with a copy of these bytes; `bytes` of none are uninitialised. 0: no memory. */
unsigned long long dl_gpu_sim_put(dl_gpu_sim_module* module, const void* data, size_t size);
int dl_gpu_sim_take(dl_gpu_sim_module* module, unsigned long long address, void* data, size_t size);
int dl_gpu_sim_drop(dl_gpu_sim_module* module, unsigned long long address);
/** The address of a variable of the module, 0 if there is none. */
unsigned long long dl_gpu_sim_variable(dl_gpu_sim_module* module, const char* name);

/** How often the host of this process has waited for a device: JSON, a number for each call. */
const char* dl_gpu_sim_waits(void);

/**
 * Run a kernel to its end. `sizes` are grid and block, three each; `params` are its parameters as
 * they are stored in its memory. It ends early, as one that failed, where another thread sets
 * `stop`. Returns JSON: outcome, output, instructions, findings.
 */
const char* dl_gpu_sim_launch(dl_gpu_sim_module* module, const char* kernel,
                              const unsigned int* sizes, unsigned int dynamic_shared,
                              int cooperative, unsigned long long seed, unsigned long long budget,
                              const volatile int* stop, const void* params, size_t size);
}
