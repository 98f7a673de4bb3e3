// torch.accelerator.Graph: captures the work of a stream once and replays it, through the
// graph extension (dl/graph.h).
#include <ATen/core/GraphImplInterface.h>
#include <c10/util/Exception.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "dl/graph.h"
#include "memory/graph_pools.h"
#include "memory/memory_checker.h"
#include "runtime/activate.h"
#include "runtime/device.h"
#include "runtime/host.h"
#include "runtime/stream.h"

namespace dl::core {
namespace {

const dl_graph_extension_t& graphs_of(int index) {
  const Device& owner = device(index);
  const auto* graphs = owner.vendor->extension<dl_graph_extension_t>(DL_EXT_GRAPH);
  const bool complete = graphs != nullptr && graphs->capture_begin != nullptr &&
                        graphs->capture_end != nullptr && graphs->launch != nullptr &&
                        graphs->destroy != nullptr;
  TORCH_CHECK_NOT_IMPLEMENTED(complete, "[torch.accelerator.Graph] dl:", index, " (vendor ",
                              owner.vendor->name(), ") does not support graph capture; call the ",
                              "function directly");
  return *graphs;
}

class Graph final : public at::GraphImplInterface {
 public:
  explicit Graph(const at::GraphImplArgs&) { graphs_of(current_device()); }
  ~Graph() override {
    if (in_bad_fork()) return;
    try {
      reset();
    } catch (const std::exception& error) {
      TORCH_WARN("[torch.accelerator.Graph] a graph of dl:", device_,
                 " was not freed: ", error.what());
    }
  }

  // All capture modes behave alike: an operation that cannot be captured throws in the calling
  // thread.
  void capture_begin(c10::MempoolId_t pool, at::GraphCaptureMode) override {
    check_not_forked();
    TORCH_CHECK(graph_ == nullptr && !stream_,
                "[torch.accelerator.Graph] capture_begin: this graph ",
                stream_ ? "is being captured" : "was captured before",
                "; create another graph, or reset() this one first");
    device_ = current_device();
    const auto& graphs = graphs_of(device_);
    const c10::Stream stream = current_stream(device_);
    check_not_capturing(device_, "another graph");
    TORCH_CHECK(!checks_memory(), "[torch.accelerator.Graph] capture_begin: graphs cannot be ",
                "captured with DL_MEM_CHECK, which never reuses blocks; unset it");
    pool_ = pool == c10::MempoolId_t{0, 0} ? new_pool_name() : pool;
    begin_pool(device_, stream.id(), pool_);
    holds_pool_ = true;
    try {
      vendor().call_extension(graphs.capture_begin, "graph.capture_begin", local(),
                              native_stream(stream), uint64_t{0});
    } catch (...) {
      end_pool(device_, stream.id());
      let_pool_go();
      throw;
    }
    stream_ = stream;
  }

  void capture_end() override {
    TORCH_CHECK(stream_, "[torch.accelerator.Graph] capture_end: nothing is being captured; call ",
                "capture_begin() first");
    const c10::Stream stream = *stream_;
    stream_.reset();
    end_pool(device_, stream.id());
    vendor().call_extension(graphs_of(device_).capture_end, "graph.capture_end", local(),
                            native_stream(stream), &graph_);
  }

  // Vendors instantiate their graphs at the end of the capture.
  void instantiate() override { check_captured("instantiate"); }

  void replay() override {
    check_not_forked();
    check_captured("replay");
    vendor().call_extension(graphs_of(device_).launch, "graph.launch", local(), graph_,
                            current_native_stream(device_));
  }

  void reset() override {
    if (stream_) {
      try {
        capture_end();
      } catch (const c10::Error&) {
        // The stream executes work again after this call; no graph was created.
      }
    }
    if (graph_ != nullptr) {
      void* const graph = std::exchange(graph_, nullptr);
      synchronize_device(device_);
      vendor().call_extension(graphs_of(device_).destroy, "graph.destroy", local(), graph);
    }
    let_pool_go();
  }

  c10::MempoolId_t pool() const override {
    check_captured("pool");
    return pool_;
  }

  void enable_debug_mode() override { refuse_debugging("enable_debug_mode"); }
  void debug_dump(const std::string&) override { refuse_debugging("debug_dump"); }

 private:
  const Vendor& vendor() const { return *device(device_).vendor; }
  int32_t local() const { return device(device_).local; }

  void let_pool_go() {
    if (std::exchange(holds_pool_, false)) release_pool(device_, pool_);
  }

  void check_captured(const char* what) const {
    TORCH_CHECK(graph_ != nullptr, "[torch.accelerator.Graph] ", what, ": no graph was captured; ",
                "call capture_begin() and capture_end() around the work to capture");
  }

  [[noreturn]] static void refuse_debugging(const char* what) {
    TORCH_CHECK_NOT_IMPLEMENTED(false, "[torch.accelerator.Graph] ", what, ": dl vendors do not ",
                                "report the contents of a graph; profile the function instead");
  }

  int device_ = 0;
  void* graph_ = nullptr;
  std::optional<c10::Stream> stream_;  // the capturing stream
  c10::MempoolId_t pool_{0, 0};
  bool holds_pool_ = false;
};

}  // namespace

void register_graphs() {
  // The name of the device type after renaming, in the spelling of torch's registry.
  at::GraphImplRegistry()->Register(
      "DL", [](const at::GraphImplArgs& args) -> std::unique_ptr<at::GraphImplInterface> {
        return std::make_unique<Graph>(args);
      });
}

}  // namespace dl::core
