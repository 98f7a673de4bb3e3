// Map from vendor instances to the layers around their operators.
#pragma once

#include <atomic>
#include <mutex>

#include "dl/vendor.h"

namespace dl::adaptor {

// A linked list without locks for readers, because operators on other threads search it while an
// instance is created. Links are reused, never freed.
template <class Layer>
class Instances {
 public:
  static void add(const dl_vendor_t* vendor, Layer* layer) {
    const std::lock_guard<std::mutex> guard(mutex());
    Link* found = first().load();
    while (found != nullptr && found->layer.load() != nullptr) found = found->next;
    const bool is_new = found == nullptr;
    if (is_new) {
      found = new Link;
      found->next = first().load();
    }
    found->layer.store(layer);
    found->vendor.store(vendor);
    if (is_new) first().store(found);
  }

  static void remove(const Layer* layer) {
    const std::lock_guard<std::mutex> guard(mutex());
    for (Link* at = first().load(); at != nullptr; at = at->next) {
      if (at->layer.load() != layer) continue;
      at->vendor.store(nullptr);
      at->layer.store(nullptr);
    }
  }

  // Returns the layer of an instance, or NULL if it has none.
  static Layer* of(const dl_vendor_t* vendor) {
    if (vendor == nullptr) return nullptr;
    const Link* at = first().load();
    while (at != nullptr && at->vendor.load() != vendor) at = at->next;
    return at == nullptr ? nullptr : at->layer.load();
  }

 private:
  struct Link {
    std::atomic<const dl_vendor_t*> vendor{nullptr};
    std::atomic<Layer*> layer{nullptr};
    Link* next = nullptr;
  };

  static std::atomic<Link*>& first() {
    static std::atomic<Link*> link{nullptr};
    return link;
  }
  static std::mutex& mutex() {
    static std::mutex made;
    return made;
  }
};

}  // namespace dl::adaptor
