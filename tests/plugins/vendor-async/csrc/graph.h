#ifndef DL_ASYNC_TEST_GRAPH_H_
#define DL_ASYNC_TEST_GRAPH_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "stream.h"

namespace dl::async_test {

/** The graphs of one instance. */
class Graphs {
 public:
  void* add(int32_t device, std::shared_ptr<Recording> graph);
  /** Throws Error unless the handle is a graph of that device. */
  std::shared_ptr<Recording> find(int32_t device, void* handle);
  void remove(int32_t device, void* handle);

 private:
  struct Entry {
    int32_t device;
    std::shared_ptr<Recording> graph;
  };

  std::mutex mutex_;
  std::map<void*, Entry> graphs_;
};

}  // namespace dl::async_test

#endif
