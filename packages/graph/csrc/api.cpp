// Implementation of the C functions of dl/contract_graph.h.
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "content.h"
#include "dl/checked_status.hpp"
#include "dl/contract_graph.h"
#include "dl/serial_host.hpp"
#include "fields.h"
#include "graph_file.h"
#include "row_rules.h"
#include "session.h"
#include "verify.h"

namespace dl::graph {
namespace {

struct OpenGraph : dl_contract_graph_t {
  OpenGraph(Content of_file, std::string path)
      : content(std::move(of_file)),
        where(std::move(path)),
        graph(read_graph(read_safetensors(content.data(), content.count()))) {
    name = where.c_str();
    text = graph.text.c_str();
    bytes = content.data();
    count = content.count();
  }
  Content content;
  std::string where;
  Graph graph;
};

const Graph& graph_of(const dl_contract_graph_t* opened) {
  return static_cast<const OpenGraph*>(opened)->graph;
}

struct OpenSession : dl_contract_session_t {
  OpenSession(const dl_contract_graph_t* of, const dl_contract_target_t& target)
      : dl_contract_session_t{of}, session(graph_of(of), target) {}
  Session session;
};

Session& session_of(dl_contract_session_t* opened) {
  return static_cast<OpenSession*>(opened)->session;
}

template <typename Body>
dl_status_t* answered(const std::string& name, Body&& body) noexcept {
  return checked::guarded([&]() -> dl_status_t* {
    try {
      body();
      return nullptr;
    } catch (const Failure& failure) {
      return checked::make_status(failure.code, name + ": " + failure.what());
    } catch (const std::bad_alloc&) {
      return checked::make_status(DL_OUT_OF_MEMORY, name + ": out of memory");
    }
  });
}

template <typename Source>
dl_status_t* opened(const std::string& name, dl_contract_graph_t** graph,
                    Source&& source) noexcept {
  return answered(name, [&] {
    auto made = std::make_unique<OpenGraph>(source(), name);
    verify(made->graph);
    *graph = made.release();
  });
}

const Entry& entry_at(const Graph& graph, int64_t entry) {
  if (entry < 0 || static_cast<uint64_t>(entry) >= graph.entries.size())
    throw Failure("there is no entry " + std::to_string(entry) +
                  "; number of entries: " + std::to_string(graph.entries.size()));
  return graph.entries[static_cast<size_t>(entry)];
}

}  // namespace
}  // namespace dl::graph

using dl::graph::answered;
using dl::graph::Failure;
using dl::graph::session_of;

extern "C" {

DL_EXPORT dl_status_t* dl_contract_graph_open(const char* path, dl_contract_graph_t** graph) {
  return dl::graph::opened(path, graph, [&] { return dl::graph::Content::of_file(path); });
}

DL_EXPORT dl_status_t* dl_contract_graph_read(const void* bytes, uint64_t count, const char* name,
                                              dl_contract_graph_t** graph) {
  return dl::graph::opened(name, graph, [&] { return dl::graph::Content::copy_of(bytes, count); });
}

DL_EXPORT void dl_contract_graph_close(dl_contract_graph_t* graph) {
  delete static_cast<dl::graph::OpenGraph*>(graph);
}

DL_EXPORT int64_t dl_contract_graph_entry(const dl_contract_graph_t* graph, const char* name) {
  const auto& entries = dl::graph::graph_of(graph).entries;
  for (size_t i = 0; i < entries.size(); ++i)
    if (entries[i].name == name) return static_cast<int64_t>(i);
  return -1;
}

DL_EXPORT dl_status_t* dl_contract_graph_plan(const dl_contract_graph_t* graph, int64_t number,
                                              const int64_t* sizes, uint64_t count,
                                              int64_t* offsets, uint64_t offset_count,
                                              dl_contract_plan_t* plan) {
  return answered(graph->name, [&] {
    const dl::graph::Entry& entry = dl::graph::entry_at(dl::graph::graph_of(graph), number);
    if (offset_count != entry.storages.size())
      throw Failure("the number of storages has to be " + std::to_string(entry.storages.size()));
    const dl::graph::Concrete sized = dl::graph::concrete(entry, {sizes, sizes + count});
    dl::graph::verify_sizes(entry, sized);
    const dl::graph::Lifetimes lifetimes(entry, sized);
    const dl::graph::Plan made = dl::graph::make_plan(lifetimes);
    dl::graph::check_plan(entry, sized, lifetimes, made);
    std::copy(made.offsets.begin(), made.offsets.end(), offsets);
    plan->bytes = made.bytes;
    plan->most_live = lifetimes.most_live();
    plan->apart = 0;
    for (size_t i = 0; i < lifetimes.count(); ++i) plan->apart += lifetimes.of(i).bytes;
  });
}

DL_EXPORT dl_status_t* dl_contract_graph_tiling(const dl_contract_graph_t* graph, int64_t number,
                                                const int64_t* sizes, uint64_t count, int64_t cache,
                                                dl_contract_call_tiling_t* calls,
                                                uint64_t call_count, int64_t* bytes) {
  return answered(graph->name, [&] {
    const dl::graph::Entry& entry = dl::graph::entry_at(dl::graph::graph_of(graph), number);
    if (call_count != entry.calls.size())
      throw Failure("the number of calls has to be " + std::to_string(entry.calls.size()));
    const dl::graph::Concrete sized = dl::graph::concrete(entry, {sizes, sizes + count});
    dl::graph::verify_sizes(entry, sized);
    const dl::graph::Tiling tiling = dl::graph::make_tiling(
        entry, sized, cache > 0 ? cache : dl::graph::cache_bytes(), dl::graph::When::kFaster);
    for (size_t i = 0; i < entry.calls.size(); ++i) calls[i] = {-1, 0, tiling.reasons[i]};
    for (size_t i = 0; i < tiling.groups.size(); ++i)
      for (size_t call = tiling.groups[i].first; call <= tiling.groups[i].last; ++call)
        calls[call] = {static_cast<int64_t>(i), tiling.groups[i].blocks(), ""};
    *bytes = dl::graph::make_plan(dl::graph::Lifetimes(entry, sized, &tiling)).bytes;
  });
}

DL_EXPORT const char* dl_contract_row_rule(const char* operator_name) {
  const dl::graph::Operator* const found = dl::graph::find_operator(operator_name);
  if (found == nullptr) return "";
  switch (dl::graph::row_rule(*found).rows) {
    case dl::graph::Rows::kElementwise:
      return "elementwise";
    case dl::graph::Rows::kAlong:
    case dl::graph::Rows::kAlongShape:
      return "along";
    case dl::graph::Rows::kNone:
      break;
  }
  return "";
}

DL_EXPORT const dl_host_t* dl_contract_host(void) {
  static const dl_host_t kHost =
      dl::serial_host("graph", [](const dl_host_t*, int32_t, const char*) {});
  return &kHost;
}

DL_EXPORT dl_status_t* dl_contract_session_open(const dl_contract_graph_t* graph,
                                                const dl_contract_target_t* target,
                                                dl_contract_session_t** session) {
  return answered(graph->name, [&] { *session = new dl::graph::OpenSession(graph, *target); });
}

DL_EXPORT dl_status_t* dl_contract_session_open_whole(const dl_contract_graph_t* graph,
                                                      const dl_contract_target_t* target,
                                                      dl_contract_session_t** session) {
  dl_contract_target_t whole = *target;
  whole.flags |= DL_CONTRACT_WHOLE;
  return dl_contract_session_open(graph, &whole, session);
}

DL_EXPORT void dl_contract_session_close(dl_contract_session_t* session) {
  delete static_cast<dl::graph::OpenSession*>(session);
}

DL_EXPORT dl_status_t* dl_contract_session_run(dl_contract_session_t* session, int64_t entry,
                                               const dl_contract_tensor_t* inputs,
                                               uint64_t input_count,
                                               const dl_contract_size_t* sizes, uint64_t size_count,
                                               dl_contract_tensor_t* outputs,
                                               uint64_t output_count) {
  return answered(session->graph->name, [&] {
    dl::graph::entry_at(session_of(session).graph(), entry);
    session_of(session).run(static_cast<size_t>(entry), inputs, input_count, sizes, size_count,
                            outputs, output_count);
  });
}

DL_EXPORT dl_status_t* dl_contract_session_synchronize(dl_contract_session_t* session) {
  return answered(session->graph->name, [&] { session_of(session).synchronize(); });
}

DL_EXPORT dl_status_t* dl_contract_session_read(dl_contract_session_t* session,
                                                const dl_contract_tensor_t* tensor, void* memory,
                                                uint64_t bytes) {
  return answered(session->graph->name, [&] { session_of(session).read(*tensor, memory, bytes); });
}

DL_EXPORT dl_status_t* dl_contract_session_state(dl_contract_session_t* session, const char* name,
                                                 dl_contract_tensor_t* state) {
  return answered(session->graph->name, [&] { *state = session_of(session).state(name); });
}

DL_EXPORT dl_status_t* dl_contract_session_reset(dl_contract_session_t* session) {
  return answered(session->graph->name, [&] {
    session_of(session).synchronize();
    session_of(session).reset();
  });
}

DL_EXPORT dl_status_t* dl_contract_session_generator(dl_contract_session_t* session,
                                                     const char* name,
                                                     dl_generator_prefix_t** generator) {
  return answered(session->graph->name, [&] { *generator = session_of(session).generator(name); });
}
}
