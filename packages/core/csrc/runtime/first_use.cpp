#include "runtime/first_use.h"

#include <mutex>
#include <vector>

namespace dl::core {
namespace {

std::vector<void (*)()>& put_off() {
  static std::vector<void (*)()> actions;
  return actions;
}

}  // namespace

bool put_off_until_first_use(void (*action)()) {
  put_off().push_back(action);
  return true;
}

void note_first_use() {
  static std::once_flag once;
  std::call_once(once, [] {
    for (void (*action)() : put_off()) action();
  });
}

}  // namespace dl::core
