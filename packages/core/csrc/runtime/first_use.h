// Initialization that is deferred to the first use of dl, to keep `import torch` fast.
#pragma once

namespace dl::core {

// Called by static initializers; it returns a value so that a variable's initializer can call it.
bool put_off_until_first_use(void (*action)());

// Runs the deferred actions, once per process. Called by torch before it creates a dl tensor, when
// it initializes the device, and at the first allocation on a device otherwise.
void note_first_use();

}  // namespace dl::core
