// The layer of dl/legacy.h.
#include <cstring>
#include <new>
#include <unordered_map>
#include <unordered_set>

#include "adaptor/instances.h"
#include "adaptor/shims.h"
#include "dl/checked_status.hpp"
#include "dl/context.h"
#include "legacy/check.h"

namespace dl::legacy {
namespace {

using adaptor::Instances;
using adaptor::Shim;

struct Operator {
  std::string name;
  dl_function_t function = nullptr;
  std::vector<std::unique_ptr<Rule>> rules;
};

// Why the thread's last call was not passed on; `failed` is NULL if the last call was passed on.
struct Refusal {
  const Operator* failed = nullptr;
  std::string reason;
};
Refusal& refusal() {
  thread_local Refusal last;
  return last;
}

using SetContext = diopiContextHandle_t (*)(diopiContextHandle_t);

// Sets the context of libdiopirt.so.1; calls may nest.
class CurrentContext {
 public:
  CurrentContext(SetContext set, diopiContextHandle_t ctx) : set_(set), before_(set(ctx)) {}
  ~CurrentContext() { set_(before_); }
  CurrentContext(const CurrentContext&) = delete;
  CurrentContext& operator=(const CurrentContext&) = delete;

 private:
  SetContext set_;
  diopiContextHandle_t before_;
};

diopiError_t legacy_call(size_t number, diopiContextHandle_t ctx, void** values, Invoke invoke);

class Layer : public dl_adaptor {
 public:
  explicit Layer(const dl_legacy_library_t& library)
      : dl_adaptor{sizeof(dl_adaptor_t), bind_operators, last_error_of, count_bound},
        operators_(adaptor::kShims),
        last_error_(library.last_error),
        set_context_(library.set_current_context) {
    const Shim* shims = adaptor::shims_of<legacy_call>();
    std::unordered_map<std::string, size_t> numbers;
    for (size_t i = 0; i < adaptor::kShims; ++i) numbers.emplace(shims[i].name, i);
    for (uint64_t i = 0; i < library.operator_count; ++i) {
      const auto number = numbers.find(library.operators[i].name);
      if (number == numbers.end()) continue;
      operators_[number->second] = std::make_unique<Operator>();
      operators_[number->second]->name = number->first;
      operators_[number->second]->function = library.operators[i].function;
    }
    for (uint64_t i = 0; i < library.rule_count; ++i) {
      const auto number = numbers.find(library.rules[i].operator_name);
      if (number == numbers.end() || operators_[number->second] == nullptr) continue;
      operators_[number->second]->rules.push_back(std::make_unique<Rule>(library.rules[i]));
    }
  }
  ~Layer() { Instances<Layer>::remove(this); }
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;

  const dl_operator_t* bind_all(const dl_vendor_t* vendor, const dl_operator_t* of_runtime,
                                uint64_t count) {
    const Shim* shims = adaptor::shims_of<legacy_call>();
    std::unordered_set<std::string> names;
    bound_.clear();
    for (size_t i = 0; i < adaptor::kShims; ++i) {
      if (operators_[i] == nullptr) continue;
      names.insert(operators_[i]->name);
      bound_.push_back({shims[i].name, shims[i].fingerprint, shims[i].function, 0});
    }
    for (uint64_t i = 0; i < count; ++i)
      if (names.find(of_runtime[i].name) == names.end()) bound_.push_back(of_runtime[i]);
    Instances<Layer>::add(vendor, this);
    return bound_.data();
  }

  diopiError_t call(size_t number, diopiContextHandle_t ctx, void** values, Invoke invoke) {
    const Operator& called = *operators_[number];
    Refusal& last = refusal();
    last.failed = nullptr;
    try {
      Finding found = check(called.rules, values);
      if (found.code != diopiSuccess) {
        last = {&called, "[" + called.name + "] " + found.text};
        return found.code;
      }
    } catch (const std::bad_alloc&) {
      last.failed = &called;
      last.reason.clear();
      return diopiErrorOccurred;
    }
    const CurrentContext current(set_context_, ctx);
    return invoke(called.function, ctx, values);
  }

 private:
  static dl_status_t* bind_operators(dl_adaptor_t* self, dl_vendor_t* vendor, dl_vendor_t*,
                                     const dl_operator_t* operators, uint64_t count,
                                     const dl_operator_t** bound) {
    return checked::guarded([&]() -> dl_status_t* {
      *bound = static_cast<Layer*>(self)->bind_all(vendor, operators, count);
      return nullptr;
    });
  }

  static uint64_t count_bound(dl_adaptor_t* self) {
    return static_cast<Layer*>(self)->bound_.size();
  }

  static const char* last_error_of(dl_adaptor_t* self, const char* operator_name) {
    const Refusal& last = refusal();
    if (last.failed != nullptr && last.failed->name == operator_name) return last.reason.c_str();
    const auto asked = static_cast<Layer*>(self)->last_error_;
    thread_local std::string said;
    if (asked == nullptr) return nullptr;
    said = foreign::read_text(asked(), 1023);
    return said.empty() ? nullptr : said.c_str();
  }

  std::vector<std::unique_ptr<Operator>> operators_;  // by number
  std::vector<dl_operator_t> bound_;
  const char* (*last_error_)();
  SetContext set_context_;
};

diopiError_t legacy_call(size_t number, diopiContextHandle_t ctx, void** values, Invoke invoke) {
  Layer* const layer = Instances<Layer>::of(dl_context_vendor(ctx));
  return layer == nullptr ? diopiErrorOccurred : layer->call(number, ctx, values, invoke);
}

}  // namespace
}  // namespace dl::legacy

extern "C" {

DL_EXPORT dl_adaptor_t* dl_legacy_make(const dl_legacy_library_t* library) {
  try {
    return new dl::legacy::Layer(*library);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

DL_EXPORT void dl_legacy_destroy(dl_adaptor_t* layer) {
  delete static_cast<dl::legacy::Layer*>(layer);
}
}
