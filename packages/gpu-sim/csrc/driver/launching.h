#pragma once

#include "state.h"

namespace sim {

/** The image of a function, or of a kernel on the current device. */
CUresult image_of(const Callable* callable, std::shared_ptr<Image>& image);

/** The function that a library's kernel is on the current device. */
CUresult function_of_kernel(CUfunction* function, const Callable* kernel);

/** Start a kernel in a stream, or record it in a capture. */
CUresult launch(const Callable* callable, const CUlaunchConfig& config, void** params,
                void** extra);

}  // namespace sim
