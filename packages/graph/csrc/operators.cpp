#include "operators.h"

#include <string_view>
#include <unordered_map>

#include "operators.gen.h"

namespace dl::graph {

const Parameter& Operator::parameter(size_t place) const { return kParameters[first + place]; }

const Operator* find_operator(const std::string& name) {
  static const auto* const kByName = [] {
    auto* made = new std::unordered_map<std::string_view, const Operator*>();
    for (const Operator& each : kOperators) made->emplace(each.name, &each);
    return made;
  }();
  const auto found = kByName->find(name);
  return found == kByName->end() ? nullptr : found->second;
}

size_t number_of(const Operator& found) { return static_cast<size_t>(&found - kOperators); }

}  // namespace dl::graph
