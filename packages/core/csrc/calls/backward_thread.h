// In which thread backward() runs.
#pragma once

namespace dl::core {

// Lets the calling thread run its backward passes itself where there is one device. torch would
// hand them to a thread of that device and wait for it, which takes longer than a small graph does
// and gains nothing; with several devices their threads run side by side, and torch's choice
// stands. torch.autograd.set_multithreading_enabled(True) afterwards brings torch's threads back.
void run_backward_in_this_thread();

}  // namespace dl::core
