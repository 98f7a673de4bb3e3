#include "cut.h"

#include <algorithm>
#include <string>

#include "row_rules.h"

namespace dl::graph {
namespace {

constexpr const char* kUnknown = "it is not known to work row by row";
constexpr const char* kShapes = "its tensors do not have the same rows";

struct Use {
  const Parameter* parameter;
  const ConcreteView* view;
};

std::vector<Use> uses_of(const Concrete& sized, const Call& call) {
  std::vector<Use> out;
  each_tensor(call, [&](size_t, const Parameter& parameter, size_t value) {
    out.push_back({&parameter, &sized.views[value]});
  });
  return out;
}

Cut refused(const char* reason) {
  Cut out;
  out.reason = reason;
  return out;
}

// Returns true if a list such as "|a|b|" contains a name.
bool among(const char* names, const char* name) {
  return std::string(names).find("|" + std::string(name) + "|") != std::string::npos;
}

Cut elementwise(const std::vector<Use>& uses) {
  const ConcreteView* whole = nullptr;
  for (const Use& use : uses) {
    if (use.parameter->direction == Direction::kIn) continue;
    if (whole != nullptr && whole->shape != use.view->shape) return refused(kShapes);
    whole = use.view;
  }
  if (whole == nullptr) return refused(kShapes);
  Cut out;
  out.space = whole->shape;
  for (const Use& use : uses) {
    const std::vector<int64_t>& shape = use.view->shape;
    if (shape.size() > out.space.size()) return refused(kShapes);
    const size_t missing = out.space.size() - shape.size();
    std::vector<int32_t>& dims = out.dims.emplace_back(out.space.size(), -1);
    for (size_t d = 0; d < shape.size(); ++d) {
      if (shape[d] == out.space[missing + d]) {
        dims[missing + d] = static_cast<int32_t>(d);
      } else if (shape[d] != 1) {
        return refused(kShapes);
      }
    }
  }
  return out;
}

// Returns the first dimension that an operator needs as a whole; -1 if it needs all dimensions.
int64_t first_needed(const Call& call, const RowRule& rule, const Sizes& sizes, int64_t rank) {
  for (size_t place = 0; place < call.called->count; ++place) {
    if (std::string(call.called->parameter(place).name) != rule.parameter) continue;
    const Argument& argument = call.arguments[place];
    if (argument.null || argument.sizes.empty()) return -1;
    if (rule.rows == Rows::kAlongShape) return rank - static_cast<int64_t>(argument.sizes.size());
    int64_t first = rank;
    for (const Expression& each : argument.sizes) {
      const int64_t dim = each.value(sizes);
      first = std::min(first, dim < 0 ? dim + rank : dim);
    }
    return first;
  }
  return -1;
}

Cut along(const Concrete& sized, const Call& call, const RowRule& rule,
          const std::vector<Use>& uses) {
  const ConcreteView* input = nullptr;
  for (const Use& use : uses) {
    if (among(rule.absent, use.parameter->name)) return refused("one result sums over rows");
    if (use.parameter->direction == Direction::kIn && input == nullptr) input = use.view;
  }
  if (input == nullptr) return refused(kShapes);
  const auto rank = static_cast<int64_t>(input->shape.size());
  const int64_t needed = first_needed(call, rule, sized.sizes, rank);
  if (needed < 1 || needed >= rank) return refused("it works along the outermost dimension");
  Cut out;
  out.space.assign(input->shape.begin(), input->shape.begin() + needed);
  for (const Use& use : uses) {
    std::vector<int32_t>& dims = out.dims.emplace_back(out.space.size(), -1);
    if (among(rule.whole, use.parameter->name)) continue;
    const std::vector<int64_t>& shape = use.view->shape;
    if (shape.size() < out.space.size() ||
        !std::equal(out.space.begin(), out.space.end(), shape.begin()))
      return refused(kShapes);
    for (size_t d = 0; d < dims.size(); ++d) dims[d] = static_cast<int32_t>(d);
  }
  return out;
}

}  // namespace

Cut cut_of(const Concrete& sized, const Call& call) {
  const RowRule rule = row_rule(*call.called);
  if (rule.rows == Rows::kNone) return refused(kUnknown);
  const std::vector<Use> uses = uses_of(sized, call);
  if (std::any_of(uses.begin(), uses.end(), [](const Use& use) { return use.view->numel == 0; }))
    return refused("it has no elements");
  Cut out = rule.rows == Rows::kElementwise ? elementwise(uses) : along(sized, call, rule, uses);
  if (out.possible() || *out.reason != '\0') return out;
  return refused("its result is a single element");
}

}  // namespace dl::graph
