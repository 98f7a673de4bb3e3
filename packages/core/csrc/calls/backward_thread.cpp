#include "calls/backward_thread.h"

#include <c10/core/AutogradState.h>
#include <torch/csrc/autograd/graph_task.h>

#include "runtime/device.h"

namespace dl::core {

void run_backward_in_this_thread() {
  // The threading mode of a backward pass that is already running does not change.
  if (device_count() == 1 && torch::autograd::get_current_graph_task_id() < 0)
    c10::AutogradState::get_tls_state().set_multithreading_enabled(false);
}

}  // namespace dl::core
