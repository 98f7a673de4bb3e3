#include "graph_file.h"

#include <algorithm>
#include <set>

#include "arguments.h"

namespace dl::graph {
namespace {

constexpr int64_t kVersion = 1;
constexpr size_t kMostValues = size_t{1} << 22;
constexpr size_t kMostNodes = size_t{1} << 16;
constexpr size_t kMostEntries = 256;
constexpr size_t kMostSymbols = 64;
constexpr size_t kMostDimensions = 64;
constexpr const char* kKinds[] = {"input", "constant", "state", "temp", "output"};

void limit(size_t count, size_t most, const char* what) {
  if (count > most)
    throw Failure(std::to_string(count) + " " + what + "; a graph has at most " +
                  std::to_string(most));
}

void check_name(const std::string& name) {
  const bool plain = std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return c > 0x20 && c != 0x7f && c != '"' && c != '\\';
  });
  if (name.empty() || name.size() > 256 || !plain)
    throw Failure("the name " + shown(name) +
                  " is invalid; use 1 to 256 bytes without spaces, quotes and backslashes");
}

class EntryReader {
 public:
  EntryReader(const Graph& graph, const std::string& name) : graph_(graph) { out_.name = name; }

  Entry read(const Json& json) {
    Fields fields(json);
    read_symbols(fields.list("symbols"));
    each(fields.list("guards"), "guard",
         [&](const Json& guard) { out_.guards.emplace_back(guard, out_.symbols); });
    each(fields.list("storages"), "storage", [&](const Json& storage) { read_storage(storage); });
    each(fields.list("values"), "value", [&](const Json& value) { read_value(value); });
    read_ports(fields.list("inputs"), "input", out_.inputs);
    read_ports(fields.list("outputs"), "output", out_.outputs);
    check_inputs();
    each(fields.list("calls"), "call",
         [&](const Json& call) { out_.calls.push_back(read_call(call, graph_, out_)); });
    each(fields.list("plans"), "plan", [&](const Json& plan) { read_plan(plan); });
    fields.end();
    return std::move(out_);
  }

 private:
  template <typename Body>
  static void each(const std::vector<Json>& list, const std::string& what, Body&& body) {
    limit(list.size(), kMostNodes, (what + "s").c_str());
    for (size_t i = 0; i < list.size(); ++i)
      within(what + " " + std::to_string(i), [&] { body(list[i]); });
  }

  void read_symbols(const std::vector<Json>& list) {
    limit(list.size(), kMostSymbols, "symbols");
    each(list, "symbol", [&](const Json& json) {
      Fields fields(json);
      Symbol symbol{fields.word("name"), fields.integer("min"), fields.integer("max")};
      fields.end();
      check_name(symbol.name);
      if (symbol.min < 0 || symbol.max < symbol.min)
        throw Failure("the range of " + symbol.name + " does not satisfy 0 <= min <= max");
      for (const Symbol& other : out_.symbols)
        if (other.name == symbol.name)
          throw Failure("symbol " + symbol.name + " occurs more than once");
      out_.symbols.push_back(std::move(symbol));
    });
  }

  template <typename Shared>
  static size_t find(const std::vector<Shared>& all, const std::string& name, const char* what) {
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const Shared& each) { return each.name == name; });
    if (found == all.end())
      throw Failure(std::string(what) + " " + shown(name) + " is not in the file");
    return static_cast<size_t>(found - all.begin());
  }

  void read_storage(const Json& json) {
    Fields fields(json);
    const std::string& kind = fields.word("kind");
    const auto* const known = std::find(std::begin(kKinds), std::end(kKinds), kind);
    if (known == std::end(kKinds)) throw Failure("the kind " + shown(kind) + " is unknown");
    Storage storage;
    storage.kind = static_cast<StorageKind>(known - std::begin(kKinds));
    if (storage.kind == StorageKind::kConstant) {
      storage.shared = find(graph_.constants, fields.word("name"), "constant");
      const auto bytes = static_cast<int64_t>(graph_.constants[storage.shared].tensor.bytes);
      storage.bytes = number(bytes);
    } else if (storage.kind == StorageKind::kState) {
      storage.shared = find(graph_.states, fields.word("name"), "state");
      storage.bytes = number(graph_.states[storage.shared].bytes);
    } else {
      storage.bytes = Expression(fields.any("bytes"), out_.symbols);
      storage.bytes.range(out_.symbols);
    }
    fields.end();
    out_.storages.push_back(std::move(storage));
  }

  static Expression number(int64_t value) {
    Json json;
    json.kind = Json::Kind::kInteger;
    json.integer = value;
    return Expression(json, {});
  }

  std::vector<Expression> expressions(const std::vector<Json>& list) const {
    limit(list.size(), kMostDimensions, "dimensions");
    std::vector<Expression> out;
    for (const Json& each : list) {
      out.emplace_back(each, out_.symbols);
      out.back().range(out_.symbols);
    }
    return out;
  }

  void read_value(const Json& json) {
    Fields fields(json);
    View view;
    view.name = fields.word("name");
    check_name(view.name);
    within(view.name, [&] {
      view.dtype = dtype_of(fields.word("dtype"));
      view.shape = expressions(fields.list("shape"));
      view.strides = expressions(fields.list("strides"));
      if (view.shape.size() != view.strides.size())
        throw Failure("the numbers of strides and sizes differ");
      view.storage = fields.place("storage", out_.storages.size());
      view.offset = Expression(fields.any("offset"), out_.symbols);
      view.offset.range(out_.symbols);
      fields.end();
    });
    out_.values.push_back(std::move(view));
  }

  void read_ports(const std::vector<Json>& list, const char* what, std::vector<Port>& out) {
    std::set<std::string> names;
    each(list, what, [&](const Json& json) {
      Fields fields(json);
      Port port{fields.word("name"), fields.place("value", out_.values.size())};
      fields.end();
      check_name(port.name);
      if (!names.insert(port.name).second) throw Failure(port.name + " occurs twice");
      out.push_back(std::move(port));
    });
  }

  // Checks that each input has its own storage; lists the symbols that no input has as a size.
  void check_inputs() {
    std::set<size_t> storages;
    std::set<int64_t> bound;
    for (const Port& port : out_.inputs) {
      const View& view = out_.values[port.value];
      if (out_.storages[view.storage].kind != StorageKind::kInput ||
          !storages.insert(view.storage).second)
        throw Failure("input " + port.name + " needs its own storage of kind \"input\"");
      for (const Expression& size : view.shape) bound.insert(size.symbol());
    }
    for (size_t i = 0; i < out_.storages.size(); ++i) {
      if (out_.storages[i].kind == StorageKind::kInput && storages.count(i) == 0)
        throw Failure("storage " + std::to_string(i) + " is of kind \"input\", but not an input");
    }
    for (size_t i = 0; i < out_.symbols.size(); ++i)
      if (bound.count(static_cast<int64_t>(i)) == 0) out_.passed.push_back(i);
  }

  void read_plan(const Json& json) {
    Fields fields(json);
    StoredPlan plan;
    for (const Json& size : integers(fields.list("sizes"), out_.symbols.size()))
      plan.sizes.push_back(size.integer);
    for (const Json& offset : integers(fields.list("offsets"), out_.storages.size()))
      plan.offsets.push_back(offset.integer);
    plan.bytes = fields.integer("bytes");
    fields.end();
    out_.plans.push_back(std::move(plan));
  }

  static const std::vector<Json>& integers(const std::vector<Json>& list, size_t count) {
    const bool numbers = std::all_of(
        list.begin(), list.end(), [](const Json& each) { return each.is(Json::Kind::kInteger); });
    if (list.size() != count || !numbers)
      throw Failure("it has to be a list of " + std::to_string(count) + " integers");
    return list;
  }

  const Graph& graph_;
  Entry out_;
};

void read_constants(Fields& fields, const SafeTensors& file, Graph& graph) {
  for (const Json& each : fields.list("constants")) {
    const std::string& name = each.string;
    const auto found = file.tensors.find(name);
    if (!each.is(Json::Kind::kString) || found == file.tensors.end())
      throw Failure("constant " + shown(name) + " is not among the tensors of the file");
    if (!graph.constants.empty() && graph.constants.back().name >= name)
      throw Failure("the constants are not sorted by name");
    graph.constants.push_back({name, found->second});
  }
  if (graph.constants.size() != file.tensors.size())
    throw Failure("the file has tensors that are not constants of the graph");
}

void read_states(Fields& fields, Graph& graph) {
  std::set<std::string> names;
  for (const Json& json : fields.list("states")) {
    Fields state_fields(json);
    State state;
    state.name = state_fields.word("name");
    state.bytes = state_fields.integer("bytes");
    const Json& initial = state_fields.any("initial");
    state_fields.end();
    check_name(state.name);
    within("state " + state.name, [&] {
      if (!names.insert(state.name).second) throw Failure("it occurs twice");
      if (state.bytes < 0) throw Failure("its number of bytes is negative");
      if (initial.is(Json::Kind::kNull)) return;
      for (size_t i = 0; i < graph.constants.size(); ++i)
        if (initial.is(Json::Kind::kString) && graph.constants[i].name == initial.string)
          state.initial = static_cast<int64_t>(i);
      if (state.initial < 0) throw Failure("its initial value is not a constant of the file");
      if (graph.constants[static_cast<size_t>(state.initial)].tensor.bytes !=
          static_cast<uint64_t>(state.bytes))
        throw Failure("its initial value has another number of bytes");
    });
    graph.states.push_back(std::move(state));
  }
}

// Checks that the signatures of all operators are those for which the graph was made.
void check_fingerprints(const Json& contract, const Graph& graph) {
  std::set<std::string> used;
  for (const Entry& entry : graph.entries)
    for (const Call& call : entry.calls) used.insert(call.called->name);
  for (const std::string& name : used) {
    char mine[17];
    std::snprintf(mine, sizeof mine, "%016llx",
                  static_cast<unsigned long long>(find_operator(name)->fingerprint));
    const auto found = contract.object.find(name);
    if (found == contract.object.end() || !found->second.is(Json::Kind::kString))
      throw Failure("\"contract\" has no fingerprint of " + name);
    if (found->second.string != mine)
      throw Failure(name + " was " + shown(found->second.string) +
                    " where the graph was made and is " + mine +
                    " here: its signature has changed. Make the graph again, or install the "
                    "dl-graph that it was made with.");
  }
  if (used.size() != contract.object.size())
    throw Failure("\"contract\" has an operator that no call uses");
}

}  // namespace

Graph read_graph(const SafeTensors& file) {
  const auto found = file.metadata.find("dlg");
  if (found == file.metadata.end() || file.metadata.size() != 1)
    throw Failure("it is a safetensors file, not a .dlg file: its only metadata must be \"dlg\"");
  Graph graph;
  graph.text = found->second;
  const Json json = parse_json(graph.text, kMostValues);
  if (canonical_json(json) != graph.text)
    throw Failure(
        "its JSON is not canonical (sorted keys, no white space); write it with dl-graph");
  Fields fields(json);
  const int64_t version = fields.integer("dlg");
  if (version != kVersion)
    throw Failure("its format version is " + std::to_string(version) + ", the supported one is " +
                  std::to_string(kVersion) + "; install a newer dl-graph");
  const Json& contract = fields.of("contract", Json::Kind::kObject);
  for (const Json& each : fields.list("generators")) {
    check_name(each.string);
    if (std::count(graph.generators.begin(), graph.generators.end(), each.string) != 0)
      throw Failure("generator " + each.string + " occurs twice");
    graph.generators.push_back(each.string);
  }
  read_constants(fields, file, graph);
  read_states(fields, graph);
  const Json& entries = fields.of("entries", Json::Kind::kObject);
  fields.end();
  limit(entries.object.size(), kMostEntries, "entries");
  if (entries.object.empty()) throw Failure("it has no entries");
  for (const auto& [name, entry] : entries.object) {
    check_name(name);
    graph.entries.push_back(within(
        "entry " + name, [&, &n = name, &e = entry] { return EntryReader(graph, n).read(e); }));
  }
  check_fingerprints(contract, graph);
  return graph;
}

}  // namespace dl::graph
