// Checks of a kernel extension launch before the driver sees it: drivers read as many arguments as
// the kernel has parameters, however many were passed.
#ifndef DL_KIT_LAUNCH_CHECK_H_
#define DL_KIT_LAUNCH_CHECK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "dl/kernel.h"
#include "dl/kit/base.h"
#include "dl/kit/status.h"

DL_KIT_BEGIN

namespace detail {

inline std::string triple(const uint32_t (&of)[3]) {
  return std::to_string(of[0]) + "x" + std::to_string(of[1]) + "x" + std::to_string(of[2]);
}

[[noreturn]] inline void refuse_launch(const std::string& kernel, const std::string& why) {
  throw Error(DL_INVALID_ARGUMENT, "kernel '" + kernel + "': " + why);
}

inline void check_size(const std::string& kernel, const char* what, const uint32_t (&of)[3],
                       const uint32_t (&most)[3]) {
  for (int d = 0; d < 3; ++d) {
    if (of[d] == 0 || of[d] > most[d])
      refuse_launch(kernel, std::string(what) + " " + triple(of) + " is empty, or larger than " +
                                triple(most));
  }
}

}  // namespace detail

// Returns the address of each argument. `limits` are the kernel's limits; `parameters` are the
// sizes of its parameters in bytes, or null if unknown. Throws Error.
inline std::vector<void*> launch_arguments(const std::string& kernel,
                                           const dl_kernel_launch_t* given,
                                           const dl_kernel_properties_t& limits,
                                           const std::vector<size_t>* parameters) {
  using detail::refuse_launch;
  if (!DL_HAS_FIELD(given, dl_kernel_launch_t, argument_count))
    refuse_launch(kernel, "the launch struct is too short; set its struct_size");
  if (DL_HAS_FIELD(given, dl_kernel_launch_t, flags) && given->flags != 0)
    refuse_launch(kernel, "the flags of a launch must be 0");
  detail::check_size(kernel, "grid", given->grid, limits.max_grid);
  detail::check_size(kernel, "block", given->block, limits.max_block);
  const uint64_t threads = uint64_t{given->block[0]} * given->block[1] * given->block[2];
  if (threads > limits.max_block_threads)
    refuse_launch(kernel, std::to_string(threads) +
                              " threads per block are more than the kernel's maximum of " +
                              std::to_string(limits.max_block_threads));
  if (given->shared_bytes > limits.max_shared_bytes)
    refuse_launch(kernel, std::to_string(given->shared_bytes) + " shared bytes are more than the " +
                              std::to_string(limits.max_shared_bytes) + " that the kernel can use");
  if (given->argument_bytes > limits.max_argument_bytes)
    refuse_launch(kernel, std::to_string(given->argument_bytes) +
                              " bytes of arguments are more than " +
                              std::to_string(limits.max_argument_bytes));
  if (given->argument_count > 0 && (given->layout == nullptr || given->arguments == nullptr))
    refuse_launch(kernel, "the arguments or their layout are NULL");
  if (parameters != nullptr && given->argument_count != parameters->size())
    refuse_launch(kernel, std::to_string(given->argument_count) + " arguments for the kernel's " +
                              std::to_string(parameters->size()) + " parameters");
  std::vector<void*> arguments;
  // The driver copies the arguments from here and does not write to them.
  char* const packed = static_cast<char*>(const_cast<void*>(given->arguments));
  for (uint64_t i = 0; i < given->argument_count; ++i) {
    const dl_kernel_argument_t& one = given->layout[i];
    const std::string name = "argument " + std::to_string(i);
    if (one.kind > DL_KERNEL_MEMORY || one.offset > given->argument_bytes ||
        one.size > given->argument_bytes - one.offset ||
        (one.kind == DL_KERNEL_MEMORY && one.size != sizeof(void*)))
      refuse_launch(kernel, name + " is outside of the packed arguments or has an unknown kind");
    if (parameters != nullptr && one.size != (*parameters)[i])
      refuse_launch(kernel, name + " has " + std::to_string(one.size) + " bytes, its parameter " +
                                std::to_string((*parameters)[i]));
    arguments.push_back(packed + one.offset);
  }
  return arguments;
}

DL_KIT_END

#endif  // DL_KIT_LAUNCH_CHECK_H_
