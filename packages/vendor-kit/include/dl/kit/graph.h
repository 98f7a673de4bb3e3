// The graph extension for a driver like CUDA's: a mixin for Runtime, and the extension's table.
//
//   struct Vendor : dl::kit::Capturing<dl::kit::Runtime<Api>> {
//     static dl_extension_t* extensions() { return dl::kit::graph_extension<Vendor>(nullptr); }
//   };
//
// In addition to the members that Runtime needs, `Api` has
//
//   using Graph, Executable                          pointers
//   capture_begin(Stream)                            in the mode that restricts no other call
//   capture_end(Stream, Graph*), capture_status(Stream, bool* capturing)
//   graph_nodes(Graph, size_t*), graph_instantiate(Executable*, Graph), graph_destroy(Graph)
//   graph_launch(Executable, Stream), executable_destroy(Executable)
//
// Drivers invalidate a capture when the host waits for its stream. The contract requires that such
// a wait is refused and that the capture continues. So calls that wait first check whether their
// stream is capturing; without a capture the check costs one load.
#ifndef DL_KIT_GRAPH_H_
#define DL_KIT_GRAPH_H_

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "dl/graph.h"
#include "dl/kit/base.h"
#include "dl/kit/extension.h"
#include "dl/kit/table.h"

DL_KIT_BEGIN

template <class Base>
class Capturing : public Base {
 public:
  using Stream = typename Base::Stream;

  void device_synchronize(int32_t device) {
    if (captures_.load(std::memory_order_relaxed) != 0) {
      const std::lock_guard<std::mutex> lock(mutex_);
      for (const auto& [stream, owner] : capturing_) {
        if (owner == device) refuse("waiting for its device");
      }
    }
    Base::device_synchronize(device);
  }
  void stream_destroy(int32_t device, void* stream) {
    forget(stream);
    Base::stream_destroy(device, stream);
  }
  void stream_synchronize(int32_t device, void* stream) {
    refuse_capturing(stream, "waiting for it");
    Base::stream_synchronize(device, stream);
  }
  bool stream_query(int32_t device, void* stream) {
    refuse_capturing(stream, "asking whether it has finished");
    return Base::stream_query(device, stream);
  }
  void memory_copy(int32_t device, void* to, const void* from, uint64_t bytes, int32_t kind,
                   void* stream) {
    const void* host_side = kind == DL_COPY_HOST_TO_DEVICE ? from : to;
    // A graph would copy the host memory's contents at replay, not the present ones.
    if (kind != DL_COPY_DEVICE_TO_DEVICE && bytes != 0 && !Base::is_pinned(host_side, bytes))
      refuse_capturing(stream, "a copy of pageable host memory");
    Base::memory_copy(device, to, from, bytes, kind, stream);
  }

  void graph_capture_begin(int32_t device, void* stream, uint64_t flags) {
    if (flags != 0)
      throw Error(DL_INVALID_ARGUMENT,
                  "the flags of a capture must be 0, not " + std::to_string(flags));
    if (stream == nullptr)
      throw Error(DL_INVALID_ARGUMENT,
                  "the default stream cannot be captured; capture on another stream, which "
                  "`with torch.Stream(device=\"dl\"):` makes current");
    if (is_capturing(stream))
      throw Error(DL_INVALID_ARGUMENT, "the stream is already capturing; end that capture first");
    this->check(this->api().capture_begin(static_cast<Stream>(stream)), "capture_begin");
    const std::lock_guard<std::mutex> lock(mutex_);
    capturing_[stream] = device;
    captures_.store(capturing_.size(), std::memory_order_relaxed);
  }
  void* graph_capture_end(int32_t device, void* stream) {
    if (!is_capturing(stream))
      throw Error(DL_INVALID_ARGUMENT, "the stream is not capturing; call capture_begin first");
    Graph graph{};
    const auto ended = this->api().capture_end(static_cast<Stream>(stream), &graph);
    forget(stream);
    this->check(ended, "capture_end");
    auto made = std::make_shared<Captured>(*this, graph);
    return graphs_.add(std::move(made), device);
  }
  bool graph_capture_status(void* stream) { return stream != nullptr && is_capturing(stream); }
  uint64_t graph_nodes(int32_t device, void* graph) { return graphs_.find(graph, device)->nodes; }
  void graph_launch(int32_t device, void* graph, void* stream) {
    const auto found = graphs_.find(graph, device);
    this->check(this->api().graph_launch(found->executable, static_cast<Stream>(stream)),
                "graph_launch");
  }
  void graph_destroy(int32_t device, void* graph) {
    const auto gone = graphs_.remove(graph, device);
    this->check(this->api().executable_destroy(std::exchange(gone->executable, nullptr)),
                "graph_destroy");
  }

 private:
  using Graph = typename std::decay_t<decltype(std::declval<Base>().api())>::Graph;
  using Executable = typename std::decay_t<decltype(std::declval<Base>().api())>::Executable;

  // An instantiated capture. The recorded graph itself is destroyed once it can be launched.
  struct Captured {
    Captured(Capturing& owner, Graph graph) : api(owner.api()) {
      const auto counted = api.graph_nodes(graph, &nodes);
      const auto made = api.graph_instantiate(&executable, graph);
      (void)api.graph_destroy(graph);
      owner.check(counted, "graph_nodes");
      owner.check(made, "graph_instantiate");
    }
    ~Captured() {
      if (executable != nullptr) (void)api.executable_destroy(executable);
    }

    std::decay_t<decltype(std::declval<Base>().api())>& api;
    size_t nodes = 0;
    Executable executable{};
  };

  bool is_capturing(void* stream) {
    bool capturing = false;
    this->check(this->api().capture_status(static_cast<Stream>(stream), &capturing),
                "capture_status");
    return capturing;
  }
  void refuse_capturing(void* stream, const char* what) {
    if (captures_.load(std::memory_order_relaxed) != 0 && graph_capture_status(stream))
      refuse(what);
  }
  [[noreturn]] static void refuse(const char* what) {
    throw Error(DL_INVALID_ARGUMENT, std::string("the stream is capturing, and ") + what +
                                         " is not allowed during a capture");
  }

  // Removes a stream that began a capture. Streams that joined one are not recorded here; the
  // driver knows their state.
  void forget(void* stream) {
    const std::lock_guard<std::mutex> lock(mutex_);
    capturing_.erase(stream);
    captures_.store(capturing_.size(), std::memory_order_relaxed);
  }

  std::mutex mutex_;
  std::map<void*, int32_t> capturing_;  // maps each stream to its device
  std::atomic<size_t> captures_{0};
  Handles<Captured> graphs_{"graph"};
};

// Returns the extension of a vendor that derives from Capturing, linked before `next`.
template <class V>
dl_extension_t* graph_extension(dl_extension_t* next) {
  static dl_graph_extension_t table{};
  table.struct_size = sizeof table;
  table.type = DL_EXT_GRAPH;
  table.next = next;
  table.capture_begin = [](dl_vendor_t* vendor, int32_t device, void* stream, uint64_t flags) {
    return device_slot<V>(vendor, device,
                          [&](V& v) { v.graph_capture_begin(device, stream, flags); });
  };
  table.capture_end = [](dl_vendor_t* vendor, int32_t device, void* stream, void** graph) {
    return device_slot<V>(vendor, device,
                          [&](V& v) { *graph = v.graph_capture_end(device, stream); });
  };
  table.capture_status = [](dl_vendor_t* vendor, int32_t device, void* stream, int32_t* capturing) {
    return device_slot<V>(vendor, device,
                          [&](V& v) { *capturing = v.graph_capture_status(stream) ? 1 : 0; });
  };
  table.properties = [](dl_vendor_t* vendor, int32_t device, void* graph,
                        dl_graph_properties_t* properties) {
    return device_slot<V>(vendor, device, [&](V& v) {
      dl_graph_properties_t all{};
      all.nodes = v.graph_nodes(device, graph);
      fill(properties, all);
    });
  };
  table.launch = [](dl_vendor_t* vendor, int32_t device, void* graph, void* stream) {
    return device_slot<V>(vendor, device, [&](V& v) { v.graph_launch(device, graph, stream); });
  };
  table.destroy = [](dl_vendor_t* vendor, int32_t device, void* graph) {
    return device_slot<V>(vendor, device, [&](V& v) { v.graph_destroy(device, graph); });
  };
  return reinterpret_cast<dl_extension_t*>(&table);
}

DL_KIT_END

#endif  // DL_KIT_GRAPH_H_
