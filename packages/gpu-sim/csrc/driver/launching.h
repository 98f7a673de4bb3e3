#pragma once

#include "state.h"

namespace sim {

/** Return the image of a function, or of a kernel on the current device. */
CUresult image_of(const Callable* callable, std::shared_ptr<Image>& image);

/** Return the function of a library's kernel on the current device. */
CUresult function_of_kernel(CUfunction* function, const Callable* kernel);

/** Enqueue a kernel in a stream, or record it in a capture. */
CUresult launch(const Callable* callable, const CUlaunchConfig& config, void** params,
                void** extra);

}  // namespace sim
