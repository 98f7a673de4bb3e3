// Choice of the thread that runs backward().
#pragma once

namespace dl::core {

// With one device, lets the thread that calls backward() run the pass itself. torch would hand it
// to a thread of the device and wait, which takes longer than a small graph without any benefit.
// With several devices their threads run concurrently, so torch's default remains. Calling
// torch.autograd.set_multithreading_enabled(True) afterwards restores torch's threads.
void run_backward_in_this_thread();

}  // namespace dl::core
