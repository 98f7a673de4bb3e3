// The layer of dl/added_layer.h.
#include "dl/added_layer.h"

#include <array>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <new>
#include <unordered_map>

#include "adaptor/failure.h"
#include "adaptor/instances.h"
#include "adaptor/shims.h"
#include "added/listing.h"
#include "dl/checked_status.hpp"
#include "dl/context.h"

namespace dl::added {
namespace {

using adaptor::Instances;
using adaptor::Shim;

// More than hosts show; operators of further devices are the vendor's own.
constexpr int32_t kDevices = 256;

struct Library {
  std::string name;
  std::string label;
  dl_operators_entry_v1_t entry;
};

// One added operator on one device.
struct Implementation {
  const Library* library;
  dl_function_t function;
  const char* (*last_error)();
  std::atomic<uint64_t> calls{0};
  std::atomic<uint64_t> declined{0};

  Implementation(const Library* of, dl_function_t called, const char* (*reason)())
      : library(of), function(called), last_error(reason) {}
};

// Implementations of one operator, in the order in which they are tried.
using Chain = std::vector<std::unique_ptr<Implementation>>;

struct Row {
  std::string operator_name;
  std::string text;
  size_t library;
  int32_t device;
  dl_added_state_t state;
  const Implementation* implementation;
};

// The operators of one device.
struct Selection {
  std::vector<Chain> chains = std::vector<Chain>(adaptor::kShims);  // by number
};

// This thread's last call of an operator with implementations.
struct LastCall {
  const void* layer = nullptr;
  size_t number = 0;
  const Chain* chain = nullptr;
  size_t declined = 0;  // number of implementations that have declined, from the first
  const Implementation* served = nullptr;  // NULL: the vendor's own
  diopiError_t code = diopiSuccess;
};
LastCall& last_call() {
  thread_local LastCall last;
  return last;
}

diopiError_t added_call(size_t number, diopiContextHandle_t ctx, void** values, Invoke invoke);

const Shim* shims() { return adaptor::shims_of<added_call>(); }

const std::unordered_map<std::string, size_t>& numbers() {
  static const auto* const found = [] {
    auto* map = new std::unordered_map<std::string, size_t>;
    for (size_t i = 0; i < adaptor::kShims; ++i) map->emplace(shims()[i].name, i);
    return map;
  }();
  return *found;
}

class Layer : public dl_adaptor {
 public:
  Layer(const dl_added_library_t* libraries, uint64_t count, dl_adaptor_t* inner)
      : dl_adaptor{sizeof(dl_adaptor_t), bind_operators, last_error_of, count_bound},
        inner_(inner),
        own_(adaptor::kShims) {
    for (uint64_t i = 0; i < count; ++i)
      libraries_.push_back({libraries[i].name, libraries[i].label, libraries[i].entry});
  }
  ~Layer() { Instances<Layer>::remove(this); }
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;

  dl_status_t* bind_all(dl_vendor_t* vendor, dl_vendor_t* checked, const dl_operator_t* operators,
                        uint64_t count, const dl_operator_t** bound) {
    checked_ = checked;
    if (inner_ != nullptr) {
      if (dl_status_t* status = inner_->bind(inner_, vendor, checked, operators, count, &operators))
        return status;
      if (inner_->bound_count != nullptr) count = inner_->bound_count(inner_);
    }
    bound_.assign(operators, operators + count);
    const std::vector<bool> added = list_all();
    for (dl_operator_t& one : bound_) {
      const auto number = numbers().find(one.name);
      if (number == numbers().end() || !added[number->second] || one.function == nullptr) continue;
      const Shim& shim = shims()[number->second];
      dl_function_t& own = own_[number->second];
      // As in hosts, the first operator of a name counts; entries with other signatures are
      // ignored.
      if (one.fingerprint != shim.fingerprint || own != nullptr) continue;
      own = one.function;
      one.function = shim.function;
    }
    for (size_t i = 0; i < adaptor::kShims; ++i) {
      if (added[i] && own_[i] == nullptr)
        bound_.push_back({shims()[i].name, shims()[i].fingerprint, shims()[i].function, 0});
    }
    Instances<Layer>::add(vendor, this);
    *bound = bound_.data();
    return nullptr;
  }

  diopiError_t call(size_t number, diopiContextHandle_t ctx, void** values, Invoke invoke) {
    LastCall& last = last_call();
    Selection* const selection = select(dl_context_device(ctx));
    last = {this, number, nullptr, 0, nullptr, diopiSuccess};
    if (selection != nullptr) {
      const Chain& chain = selection->chains[number];
      last.chain = &chain;
      for (const auto& one : chain) {
        last.served = one.get();
        last.code = invoke(one->function, ctx, values);
        const bool declined = adaptor::declines(last.code);
        (declined ? one->declined : one->calls).fetch_add(1, std::memory_order_relaxed);
        if (!declined) return last.code;
        ++last.declined;
      }
    }
    last.served = nullptr;
    if (own_[number] == nullptr) return last.code = diopiNoImplement;
    return last.code = invoke(own_[number], ctx, values);
  }

  // Returns the operators of a device; NULL if only the vendor's own are called there.
  Selection* select(int32_t device) {
    if (device < 0 || device >= kDevices) return nullptr;
    Selection* found = selections_[static_cast<size_t>(device)].load(std::memory_order_acquire);
    if (found != nullptr) return found;
    const std::lock_guard<std::mutex> guard(mutex_);
    found = selections_[static_cast<size_t>(device)].load(std::memory_order_relaxed);
    if (found != nullptr) return found;
    kept_.push_back(list_for(device));
    selections_[static_cast<size_t>(device)].store(kept_.back().get(), std::memory_order_release);
    return kept_.back().get();
  }

  uint64_t rows(dl_added_row_t* out, uint64_t size) {
    const std::lock_guard<std::mutex> guard(mutex_);
    for (const Row& row : rows_) {
      if (size-- == 0) break;
      const Implementation* const counted = row.implementation;
      *out++ = {row.operator_name.empty() ? nullptr : row.operator_name.c_str(),
                row.text.c_str(),
                static_cast<int32_t>(row.library),
                row.device,
                row.state,
                counted == nullptr ? 0 : counted->calls.load(std::memory_order_relaxed),
                counted == nullptr ? 0 : counted->declined.load(std::memory_order_relaxed)};
    }
    return rows_.size();
  }

  const char* served(const char* operator_name) const {
    const LastCall& last = last_call();
    if (!concerns(last, operator_name) || last.served == nullptr) return nullptr;
    return last.served->library->name.c_str();
  }

 private:
  bool concerns(const LastCall& last, const char* operator_name) const {
    return last.layer == this && std::strcmp(shims()[last.number].name, operator_name) == 0;
  }

  // Lists the operators of all libraries for devices of any kind; returns those that are bound.
  std::vector<bool> list_all() {
    std::vector<bool> added(adaptor::kShims);
    for (size_t i = 0; i < libraries_.size(); ++i)
      list(i, nullptr, -1, [&](size_t number, const auto&, const auto&) { added[number] = true; });
    return added;
  }

  std::unique_ptr<Selection> list_for(int32_t device) {
    auto selection = std::make_unique<Selection>();
    dl_device_properties_t properties{};
    properties.struct_size = sizeof properties;
    const auto ask = checked_->table->device_properties;
    if (dl_status_t* status = ask == nullptr ? nullptr : ask(checked_, device, &properties))
      status->release(status);  // a vendor need not have properties: they are empty
    for (size_t i = 0; i < libraries_.size(); ++i) {
      list(i, &properties, device, [&](size_t number, const auto& one, const auto& listing) {
        Chain& chain = selection->chains[number];
        chain.push_back(
            std::make_unique<Implementation>(&libraries_[i], one.function, listing.last_error));
        rows_.back().implementation = chain.back().get();
      });
    }
    return selection;
  }

  // Adds a row for each operator of a library, and calls `bind` for those that can be called.
  template <typename Bind>
  void list(size_t library, const dl_device_properties_t* properties, int32_t device, Bind&& bind) {
    const dl_operators_target_t target = {sizeof(dl_operators_target_t), checked_->table->name,
                                          checked_->table->version, properties, device};
    const Listing listing = list_operators(libraries_[library].entry, target);
    const auto add = [&](std::string name, std::string text, dl_added_state_t state) {
      rows_.push_back({std::move(name), std::move(text), library, device, state, nullptr});
    };
    if (!listing.refusal.empty()) return add("", listing.refusal, DL_ADDED_REFUSED);
    if (!listing.defect.empty())
      return add("", "dl_operators_v1 " + listing.defect, DL_ADDED_REFUSED);
    std::vector<bool> seen(adaptor::kShims);
    for (const dl_operator_t& one : listing.operators) {
      const std::string name = foreign::read_text(one.name, 256);
      const auto number = numbers().find(name);
      if (one.function == nullptr) continue;
      if (number == numbers().end()) {
        add(name, "", DL_ADDED_UNKNOWN);
        continue;
      }
      if (one.fingerprint != shims()[number->second].fingerprint) {
        add(name, "", DL_ADDED_MISMATCHED);
        continue;
      }
      if (seen[number->second]) continue;  // as in a vendor's array, the first entry counts
      seen[number->second] = true;
      add(name, "", DL_ADDED_BOUND);
      bind(number->second, one, listing);
    }
  }

  // Reason of one implementation, in the words of its library without the operator's name.
  static std::string words_of(const Implementation& one, const char* operator_name) {
    std::string said =
        one.last_error == nullptr ? std::string() : foreign::read_text(one.last_error(), 1023);
    const std::string prefix = "[" + std::string(operator_name) + "] ";
    if (said.compare(0, prefix.size(), prefix) == 0) said.erase(0, prefix.size());
    return said.empty() ? "no reason given" : said;
  }

  const char* own_words(const char* operator_name) const {
    const char* said = inner_ == nullptr ? nullptr : inner_->last_error(inner_, operator_name);
    if (said != nullptr || checked_->table->last_error == nullptr) return said;
    return checked_->table->last_error(checked_);
  }

  const char* explain(const char* operator_name) const {
    const LastCall& last = last_call();
    const char* const inner =
        inner_ == nullptr ? nullptr : inner_->last_error(inner_, operator_name);
    if (!concerns(last, operator_name)) return inner;
    thread_local std::string text;
    if (last.served != nullptr) {
      text = "[" + std::string(operator_name) + "] " + words_of(*last.served, operator_name) +
             " (operator added by " + last.served->library->label + ")";
      return text.c_str();
    }
    // An error of the vendor's own operator has nothing to do with those that declined before it.
    if (last.declined == 0 || !adaptor::declines(last.code)) return inner;
    text.clear();
    if (own_[last.number] != nullptr) {
      const char* const said = own_words(operator_name);
      text = said == nullptr || *said == '\0' ? "the vendor gave no reason" : said;
    }
    for (size_t i = 0; i < last.declined; ++i) {
      const Implementation& one = *(*last.chain)[i];
      if (!text.empty()) text += "; ";
      text += one.library->label + ": " + words_of(one, operator_name);
    }
    return text.c_str();
  }

  static dl_status_t* bind_operators(dl_adaptor_t* self, dl_vendor_t* vendor, dl_vendor_t* checked,
                                     const dl_operator_t* operators, uint64_t count,
                                     const dl_operator_t** bound) {
    return checked::guarded([&] {
      return static_cast<Layer*>(self)->bind_all(vendor, checked, operators, count, bound);
    });
  }
  static const char* last_error_of(dl_adaptor_t* self, const char* operator_name) {
    return static_cast<Layer*>(self)->explain(operator_name);
  }
  static uint64_t count_bound(dl_adaptor_t* self) {
    return static_cast<Layer*>(self)->bound_.size();
  }

  std::vector<Library> libraries_;
  dl_adaptor_t* inner_;
  dl_vendor_t* checked_ = nullptr;
  std::vector<dl_function_t>
      own_;  // by number; NULL: the vendor does not have it, or nothing is added
  std::vector<dl_operator_t> bound_;
  std::array<std::atomic<Selection*>, kDevices> selections_{};
  std::vector<std::unique_ptr<Selection>> kept_;
  std::deque<Row> rows_;
  std::mutex mutex_;  // of kept_ and rows_
};

diopiError_t added_call(size_t number, diopiContextHandle_t ctx, void** values, Invoke invoke) {
  Layer* const layer = Instances<Layer>::of(dl_context_vendor(ctx));
  // The context is not ours.
  return layer == nullptr ? diopiErrorOccurred : layer->call(number, ctx, values, invoke);
}

}  // namespace
}  // namespace dl::added

extern "C" {

DL_EXPORT dl_adaptor_t* dl_added_make(const dl_added_library_t* libraries, uint64_t count,
                                      dl_adaptor_t* inner) {
  try {
    return new dl::added::Layer(libraries, count, inner);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

DL_EXPORT void dl_added_destroy(dl_adaptor_t* layer) {
  delete static_cast<dl::added::Layer*>(layer);
}

DL_EXPORT void dl_added_select(dl_adaptor_t* layer, int32_t device) {
  static_cast<dl::added::Layer*>(layer)->select(device);
}

DL_EXPORT uint64_t dl_added_rows(dl_adaptor_t* layer, dl_added_row_t* rows, uint64_t size) {
  return static_cast<dl::added::Layer*>(layer)->rows(rows, size);
}

DL_EXPORT const char* dl_added_served(const dl_vendor_t* vendor, const char* operator_name) {
  const dl::added::Layer* const layer = dl::adaptor::Instances<dl::added::Layer>::of(vendor);
  return layer == nullptr ? nullptr : layer->served(operator_name);
}
}
