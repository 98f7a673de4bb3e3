#include "dl/graph.h"

#include "extensions/extensions.h"
#include "slots.h"

namespace dl::async_test {
namespace {

dl_status_t* capture_begin(dl_vendor_t* vendor, int32_t index, void* stream, uint64_t flags) {
  return device_slot(vendor, index, [&](Instance&, Device& device) {
    if (flags != 0) throw Error(DL_INVALID_ARGUMENT, "flags of a capture must be 0");
    device.stream(stream)->capture_begin();
  });
}

dl_status_t* capture_end(dl_vendor_t* vendor, int32_t index, void* stream, void** graph) {
  return device_slot(vendor, index, [&](Instance& all, Device& device) {
    *graph = all.graphs().add(index, device.stream(stream)->capture_end());
  });
}

dl_status_t* capture_status(dl_vendor_t* vendor, int32_t index, void* stream, int32_t* capturing) {
  return device_slot(vendor, index, [&](Instance&, Device& device) {
    *capturing = device.stream(stream)->capturing() ? 1 : 0;
  });
}

dl_status_t* properties(dl_vendor_t* vendor, int32_t index, void* graph,
                        dl_graph_properties_t* properties) {
  return device_slot(vendor, index, [&](Instance& all, Device&) {
    dl_graph_properties_t found = {};
    found.nodes = all.graphs().find(index, graph)->items.size();
    fill(properties, found);
  });
}

dl_status_t* launch(dl_vendor_t* vendor, int32_t index, void* graph, void* stream) {
  return device_slot(vendor, index, [&](Instance& all, Device& device) {
    device.stream(stream)->launch(all.graphs().find(index, graph));
  });
}

dl_status_t* destroy(dl_vendor_t* vendor, int32_t index, void* graph) {
  return device_slot(vendor, index,
                     [&](Instance& all, Device&) { all.graphs().remove(index, graph); });
}

}  // namespace

dl_extension_t* graph_extension(dl_extension_t* next) {
  static dl_graph_extension_t graph = {sizeof(dl_graph_extension_t),
                                       DL_EXT_GRAPH,
                                       next,
                                       capture_begin,
                                       capture_end,
                                       capture_status,
                                       properties,
                                       launch,
                                       destroy};
  return reinterpret_cast<dl_extension_t*>(&graph);
}

}  // namespace dl::async_test
