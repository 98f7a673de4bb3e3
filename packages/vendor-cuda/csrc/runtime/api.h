// NVIDIA's driver as dl::kit::Runtime wants one: the members that dl/kit/runtime.h lists.
#ifndef DL_CUDA_RUNTIME_API_H_
#define DL_CUDA_RUNTIME_API_H_

#include <string>
#include <vector>

#include "dl/kit/nvrtc.h"
#include "dl/kit/runtime.h"
#include "dl/kit/runtime_compiler.h"
#include "runtime/driver.h"

namespace dl::cuda {

class Api {
 public:
  using Result = driver::Code;
  using Stream = driver::Stream;
  using Event = driver::Event;

  // The driver copies pageable memory to a place of its own before it returns, or waits.
  static constexpr bool kStagesPageable = true;

  static dl_code_t code(Result result) { return kit::cuda_driver_code(result); }
  // Kept for the thread.
  const char* message(Result result);

  std::string absence() { return cuda::absence(); }
  bool present() { return absence().empty(); }

  Result device_count(int* count) { return Cards::here().count(count); }
  Result get_device(int* card);
  Result set_device(int card);
  Result device_synchronize() { return the_driver().context_synchronize(); }
  Result properties(int card, dl_device_properties_t* all);

  Result malloc(void** memory, size_t bytes);
  Result free(void* memory) { return the_driver().memory_free(driver::address_of(memory)); }
  Result memory_info(size_t* free_bytes, size_t* total) {
    return the_driver().memory_info(free_bytes, total);
  }
  Result malloc_host(void** memory, size_t bytes);
  Result free_host(void* memory) { return the_driver().host_free(memory); }
  // `kind` is 1, 2 or 3: to the device, to the host, on the device.
  Result copy(void* to, const void* from, size_t bytes, int kind, Stream stream);
  Result set(void* memory, int value, size_t bytes, Stream stream) {
    return the_driver().set_bytes(driver::address_of(memory), static_cast<unsigned char>(value),
                                  bytes, stream);
  }

  Result stream_create(Stream* stream, int priority) {
    constexpr unsigned kNonBlocking = 1;  // neither waits for the default stream nor is waited for
    return the_driver().stream_create(stream, kNonBlocking, priority);
  }
  Result stream_destroy(Stream stream) { return the_driver().stream_destroy(stream); }
  Result stream_synchronize(Stream stream) { return the_driver().stream_synchronize(stream); }
  Result stream_query(Stream stream) { return the_driver().stream_query(stream); }
  Result stream_wait_event(Stream stream, Event event) {
    return the_driver().stream_wait_event(stream, event, 0);
  }

  Result event_create(Event* event, bool timing) {
    constexpr unsigned kDisableTiming = 2;
    return the_driver().event_create(event, timing ? 0 : kDisableTiming);
  }
  Result event_destroy(Event event) { return the_driver().event_destroy(event); }
  Result event_record(Event event, Stream stream) {
    return the_driver().event_record(event, stream);
  }
  Result event_synchronize(Event event) { return the_driver().event_synchronize(event); }
  Result event_query(Event event) { return the_driver().event_query(event); }
  Result event_elapsed(float* milliseconds, Event start, Event end) {
    return the_driver().event_elapsed(milliseconds, start, end);
  }

  // What dl/kit/graph.h wants.
  using Graph = driver::Graph;
  using Executable = driver::Executable;
  Result capture_begin(Stream stream) {
    return the_driver().capture_begin(stream, driver::kCaptureRelaxed);
  }
  Result capture_end(Stream stream, Graph* graph) {
    return the_driver().capture_end(stream, graph);
  }
  Result capture_status(Stream stream, bool* capturing);
  Result graph_nodes(Graph graph, size_t* count) {
    return the_driver().graph_nodes(graph, nullptr, count);
  }
  Result graph_instantiate(Executable* made, Graph graph) {
    return the_driver().graph_instantiate(made, graph, 0);
  }
  Result graph_launch(Executable graph, Stream stream) {
    return the_driver().graph_launch(graph, stream);
  }
  Result graph_destroy(Graph graph) { return the_driver().graph_destroy(graph); }
  Result executable_destroy(Executable graph) { return the_driver().executable_destroy(graph); }

  // What dl/kit/peer.h wants.
  using IpcHandle = driver::IpcHandle;
  static constexpr Result kPeerUnsupported = driver::kPeerUnsupported;
  Result can_access(int card, int peer, bool* can);
  Result enable_access(int peer);
  Result disable_access(int peer);
  Result copy_to_peer(void* to, int to_card, const void* from, int from_card, size_t bytes,
                      Stream stream);
  Result memory_range(const void* memory, void** base, size_t* bytes);
  Result export_memory(IpcHandle* handle, void* memory) {
    return the_driver().ipc_export(handle, driver::address_of(memory));
  }
  Result open_memory(void** memory, const IpcHandle& handle);
  Result close_memory(void* memory) { return the_driver().ipc_close(driver::address_of(memory)); }

  // What dl/kit/kernel.h wants.
  using Image = driver::Image;
  using Kernel = driver::Kernel;
  static constexpr Result kNotFound = driver::kNotFound;
  kit::RuntimeCompiler<kit::Nvrtc>& compiler();
  kit::Nvrtc::Target code_target(int card);
  Result kernel_limits(int card, dl_kernel_properties_t* all);
  Result image_load(Image* image, const void* code, std::string* log);
  Result image_unload(Image image) { return the_driver().image_unload(image); }
  Result image_function(Kernel* kernel, Image image, const char* name) {
    return the_driver().image_function(kernel, image, name);
  }
  Result function_attribute(int* value, int attribute, Kernel kernel) {
    return the_driver().function_attribute(value, attribute, kernel);
  }
  Result allow_shared(Kernel kernel, uint64_t bytes) {
    return the_driver().function_set(kernel, driver::kFunctionMaxDynamicShared,
                                     static_cast<int>(bytes));
  }
  bool parameter_sizes(Kernel kernel, std::vector<size_t>* sizes);
  Result launch(Kernel kernel, const uint32_t (&grid)[3], const uint32_t (&block)[3],
                uint64_t shared, Stream stream, void** arguments) {
    return the_driver().launch(kernel, grid[0], grid[1], grid[2], block[0], block[1], block[2],
                               static_cast<unsigned>(shared), stream, arguments, nullptr);
  }
};

}  // namespace dl::cuda

#endif  // DL_CUDA_RUNTIME_API_H_
