// Tests of the arguments of a call, by the rules of its operator.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "dl/legacy.h"

namespace dl::legacy {

// A rule that owns its strings and its pattern.
struct Rule {
  explicit Rule(const dl_legacy_rule_t& given)
      : parameter(given.parameter),
        text(given.text),
        sizes(given.sizes, given.sizes + given.size_count),
        is(given) {}

  std::string parameter;
  std::string text;
  std::vector<dl_legacy_size_t> sizes;
  dl_legacy_rule_t is;  // without strings and pattern
};

struct Finding {
  diopiError_t code = diopiSuccess;
  std::string text;
};

// Returns the first violation of the rules, in their order; diopiSuccess if there is none. `values`
// are the addresses of the arguments.
Finding check(const std::vector<std::unique_ptr<Rule>>& rules, void* const* values);

}  // namespace dl::legacy
