// Loads a library in a child process first: one that crashes or hangs there must not take `import
// torch` along.
#pragma once

#include <string>

namespace dl::core {

// Empty when the library loads and, if it has one, its entry symbol can be called; otherwise what
// went wrong, as the end of a sentence ("it crashes with SIGSEGV while being loaded").
std::string trial_load(const std::string& library, bool legacy, double timeout_seconds);

}  // namespace dl::core
