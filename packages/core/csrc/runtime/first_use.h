// What waits until dl is used: `import torch` is not to pay for it.
#pragma once

namespace dl::core {

// Called by static initialisers; the value lets them be written as one definition.
bool put_off_until_first_use(void (*action)());

// Runs what was put off, once in a process. By torch before it makes a tensor of dl, which asks for
// the device's initialisation, and where a device's first memory is allocated without it.
void note_first_use();

}  // namespace dl::core
