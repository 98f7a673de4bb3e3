#include "verify.h"

#include <algorithm>

#include "dtype_rules.h"
#include "fields.h"
#include "plan.h"
#include "runs.h"

namespace dl::graph {
namespace {

bool writes(const Parameter& parameter) { return parameter.direction != Direction::kIn; }
bool reads(const Parameter& parameter) { return parameter.direction != Direction::kOut; }

void check_call(const Entry& entry, const Call& call) {
  check_dtypes(entry, call);
  each_tensor(call, [&](size_t, const Parameter& parameter, size_t value) {
    const View& view = entry.values[value];
    if (writes(parameter) && entry.storages[view.storage].kind == StorageKind::kConstant)
      throw Failure(std::string(parameter.name) + " would write to value " + view.name +
                    ", which is a constant; copy it first");
  });
  for (size_t place = 0; place < call.arguments.size(); ++place) {
    const Parameter& parameter = call.called->parameter(place);
    for (const Expression& size : call.arguments[place].sizes) {
      const Range range = within(parameter.name, [&] { return size.range(entry.symbols); });
      if (parameter.type == Type::kInt32 && (range.min < INT32_MIN || range.max > INT32_MAX))
        throw Failure(std::string(parameter.name) + " overflows 32-bit integers");
    }
  }
}

// Memory used by one argument of a call.
struct Use {
  size_t place;
  const Parameter* parameter;
  size_t value;
};

void check_aliases(const Entry& entry, const Concrete& sized, const Call& call) {
  std::vector<Use> uses;
  each_tensor(call, [&](size_t place, const Parameter& parameter, size_t value) {
    uses.push_back({place, &parameter, value});
  });
  for (size_t i = 0; i < uses.size(); ++i) {
    if (!writes(*uses[i].parameter)) continue;
    const ConcreteView& written = sized.views[uses[i].value];
    for (size_t j = 0; j < uses.size(); ++j) {
      const ConcreteView& other = sized.views[uses[j].value];
      if (i == j || entry.values[uses[i].value].storage != entry.values[uses[j].value].storage ||
          written.begin >= other.end || other.begin >= written.end)
        continue;
      const bool allowed = (uses[i].parameter->may_alias >> uses[j].place & 1) != 0 ||
                           (uses[j].parameter->may_alias >> uses[i].place & 1) != 0;
      if (allowed && same_view(written, other) &&
          entry.values[uses[i].value].dtype == entry.values[uses[j].value].dtype)
        continue;
      if (overlap(runs_of(written), runs_of(other)))
        throw Failure(std::string(uses[i].parameter->name) + " (value " +
                      entry.values[uses[i].value].name + ") shares memory with " +
                      uses[j].parameter->name + " (value " + entry.values[uses[j].value].name +
                      "), which the operator does not allow here; copy one");
    }
    // Distinct indices with the same address: the order of the writes would matter.
    for (size_t d = 0; d < written.shape.size(); ++d)
      if (written.shape[d] > 1 && written.strides[d] == 0 && written.numel > 0)
        throw Failure(std::string(uses[i].parameter->name) + " would write to value " +
                      entry.values[uses[i].value].name + ", whose elements share memory");
  }
}

// Returns tuples of sizes with each symbol at an end of its range.
std::vector<Sizes> corners(const Entry& entry) {
  Sizes least;
  Sizes most;
  for (const Symbol& symbol : entry.symbols) {
    least.push_back(symbol.min);
    most.push_back(symbol.max);
  }
  std::vector<Sizes> out = {least};
  if (most != least) out.push_back(most);
  return out;
}

bool in_force(const Entry& entry, const Sizes& sizes) {
  return std::all_of(entry.guards.begin(), entry.guards.end(),
                     [&](const Guard& guard) { return guard.holds(sizes); });
}

}  // namespace

void verify_sizes(const Entry& entry, const Concrete& sized) {
  std::vector<Runs> written(entry.storages.size());
  const auto is_local = [&](size_t storage) {
    const StorageKind kind = entry.storages[storage].kind;
    return kind == StorageKind::kTemp || kind == StorageKind::kOutput;
  };
  const auto check_read = [&](size_t value, const std::string& reader) {
    const View& view = entry.values[value];
    if (is_local(view.storage) && !covers(written[view.storage], runs_of(sized.views[value])))
      throw Failure(reader + " reads value " + view.name +
                    ", which has not been written completely: a call is missing or in the wrong "
                    "place");
  };
  for (size_t number = 0; number < entry.calls.size(); ++number) {
    const Call& call = entry.calls[number];
    within(call_text(entry, number), [&] {
      check_aliases(entry, sized, call);
      each_tensor(call, [&](size_t, const Parameter& parameter, size_t value) {
        if (reads(parameter)) check_read(value, parameter.name);
      });
      each_tensor(call, [&](size_t, const Parameter& parameter, size_t value) {
        if (writes(parameter) && is_local(entry.values[value].storage))
          add(written[entry.values[value].storage], runs_of(sized.views[value]));
      });
    });
  }
  for (const Port& port : entry.outputs)
    within("entry " + entry.name, [&] { check_read(port.value, "output " + port.name); });
}

void verify(const Graph& graph) {
  for (const Entry& entry : graph.entries) {
    for (size_t number = 0; number < entry.calls.size(); ++number)
      within(call_text(entry, number), [&] { check_call(entry, entry.calls[number]); });
    within("entry " + entry.name, [&] {
      for (const Port& port : entry.outputs)
        if (entry.storages[entry.values[port.value].storage].kind == StorageKind::kTemp)
          throw Failure("output " + port.name +
                        " is a temporary, whose memory is reused; give "
                        "it a storage of kind \"output\"");
      for (const Guard& guard : entry.guards) {
        guard.left.range(entry.symbols);
        guard.right.range(entry.symbols);
      }
    });
    for (const Sizes& sizes : corners(entry))
      if (in_force(entry, sizes)) verify_sizes(entry, concrete(entry, sizes));
    for (size_t i = 0; i < entry.plans.size(); ++i) {
      const Concrete sized = concrete(entry, entry.plans[i].sizes);
      verify_sizes(entry, sized);
      within("entry " + entry.name + ", plan " + std::to_string(i),
             [&] { check_plan(entry, sized, Lifetimes(entry, sized), plan_of(entry.plans[i])); });
    }
  }
}

}  // namespace dl::graph
