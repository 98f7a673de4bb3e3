// Choice of the thread that runs backward().
#pragma once

namespace dl::core {

// Lets the calling thread run its own backward passes if there is one device. torch would pass them
// to a thread of the device and wait, which takes longer than a small graph without any benefit.
// With several devices their threads run concurrently, and torch's default remains. Calling
// torch.autograd.set_multithreading_enabled(True) afterwards restores torch's threads.
void run_backward_in_this_thread();

}  // namespace dl::core
