#include "adaptor/adaptor.h"

#include <cstring>
#include <new>
#include <unordered_map>

#include "adaptor/instances.h"
#include "adaptor/operators.h"
#include "diopi/fingerprints.gen.h"
#include "dl/checked_status.hpp"

namespace dl::adaptor {
namespace {

dl_status_t* bind(dl_adaptor_t* self, dl_vendor_t* vendor, dl_vendor_t* checked,
                  const dl_operator_t* operators, uint64_t count, const dl_operator_t** adapted) {
  return checked::guarded([&]() -> dl_status_t* {
    *adapted = static_cast<Adaptor*>(self)->bind_all(vendor, checked, operators, count);
    return nullptr;
  });
}

const char* last_error_of(dl_adaptor_t*, const char* operator_name) {
  const LastError& last = last_error();
  const bool ours = last.failed != nullptr && last.failed->name == operator_name;
  return ours ? last.reason.c_str() : nullptr;
}

}  // namespace

LastError& last_error() {
  thread_local LastError last;
  return last;
}

Adaptor::Adaptor(const dl_adaptor_rule_t* rules, uint64_t count)
    : dl_adaptor{sizeof(dl_adaptor_t), adaptor::bind, last_error_of, nullptr},
      operators_(shim_count()) {
  std::unordered_map<std::string, size_t> numbers;
  for (size_t i = 0; i < shim_count(); ++i) numbers.emplace(shims()[i].name, i);
  for (uint64_t i = 0; i < count; ++i) {
    const auto number = numbers.find(rules[i].operator_name);
    if (number == numbers.end()) continue;
    std::unique_ptr<Operator>& found = operators_[number->second];
    if (found == nullptr) {
      found = std::make_unique<Operator>();
      found->name = rules[i].operator_name;
    }
    found->rules.push_back(std::make_unique<Rule>(rules[i]));
  }
}

Adaptor::~Adaptor() { Instances<Adaptor>::remove(this); }

Adaptor* Adaptor::of(const dl_vendor_t* vendor) { return Instances<Adaptor>::of(vendor); }

const dl_operator_t* Adaptor::bind_all(dl_vendor_t* vendor, dl_vendor_t* checked,
                                       const dl_operator_t* operators, uint64_t count) {
  checked_ = checked;
  adapted_.assign(operators, operators + count);
  std::unordered_map<std::string, size_t> numbers;
  for (size_t i = 0; i < shim_count(); ++i) {
    if (operators_[i] != nullptr) numbers.emplace(shims()[i].name, i);
  }
  for (dl_operator_t& one : adapted_) {
    const std::string name = one.name;
    if (name == "diopiCastDtype" && one.fingerprint == DIOPI_FINGERPRINT_diopiCastDtype)
      cast_ = reinterpret_cast<Cast>(reinterpret_cast<void (*)()>(one.function));
    if (name == "diopiCopyInp" && one.fingerprint == DIOPI_FINGERPRINT_diopiCopyInp)
      copy_ = reinterpret_cast<Copy>(reinterpret_cast<void (*)()>(one.function));
    const auto number = numbers.find(name);
    if (number == numbers.end() || one.function == nullptr) continue;
    const Shim& shim = shims()[number->second];
    Operator& found = *operators_[number->second];
    // As in hosts, the first operator of a name counts; entries with other signatures are ignored.
    if (one.fingerprint != shim.fingerprint || found.function != nullptr) continue;
    found.function = one.function;
    one.function = shim.function;
  }
  Instances<Adaptor>::add(vendor, this);
  return adapted_.data();
}

void Adaptor::count(const Rule& rule, int32_t from_dtype, int32_t to_dtype, int32_t from_format,
                    int32_t to_format, bool result, bool on_host) {
  const std::lock_guard<std::mutex> guard(counting_);
  ++counted_[{&rule, from_dtype, to_dtype, from_format, to_format, result, on_host}];
}

uint64_t Adaptor::counts(dl_adaptor_count_t* out, uint64_t size) {
  const std::lock_guard<std::mutex> guard(counting_);
  for (const auto& [key, times] : counted_) {
    if (size == 0) break;
    --size;
    const auto& [rule, from_dtype, to_dtype, from_format, to_format, result, on_host] = key;
    *out++ = {rule->operator_name.c_str(),
              rule->parameter.c_str(),
              from_dtype,
              to_dtype,
              from_format,
              to_format,
              result,
              on_host,
              times};
  }
  return counted_.size();
}

void Adaptor::reset_counts() {
  const std::lock_guard<std::mutex> guard(counting_);
  counted_.clear();
}

}  // namespace dl::adaptor

extern "C" {

DL_EXPORT dl_adaptor_t* dl_adaptor_make(const dl_adaptor_rule_t* rules, uint64_t count) {
  try {
    return new dl::adaptor::Adaptor(rules, count);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

DL_EXPORT void dl_adaptor_destroy(dl_adaptor_t* adaptor) {
  delete static_cast<dl::adaptor::Adaptor*>(adaptor);
}

DL_EXPORT uint64_t dl_adaptor_counts(dl_adaptor_t* adaptor, dl_adaptor_count_t* counts,
                                     uint64_t size) {
  return static_cast<dl::adaptor::Adaptor*>(adaptor)->counts(counts, size);
}

DL_EXPORT void dl_adaptor_reset_counts(dl_adaptor_t* adaptor) {
  static_cast<dl::adaptor::Adaptor*>(adaptor)->reset_counts();
}
}
