// The adaptor of one instance: its rules by operator, the vendor's functions, and its counters.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "diopi/functions.h"
#include "dl/adaptor.h"

namespace dl::adaptor {

using Cast = decltype(&::diopiCastDtype);
using Copy = decltype(&::diopiCopyInp);

// A rule that owns its strings.
struct Rule {
  explicit Rule(const dl_adaptor_rule_t& given)
      : operator_name(given.operator_name), parameter(given.parameter), is(given) {
    is.operator_name = operator_name.c_str();
    is.parameter = parameter.c_str();
  }
  Rule(const Rule&) = delete;
  Rule& operator=(const Rule&) = delete;

  std::string operator_name;
  std::string parameter;
  dl_adaptor_rule_t is;
};

// An operator with rules, and the vendor's function for it.
struct Operator {
  std::string name;
  std::vector<std::unique_ptr<Rule>> rules;
  dl_function_t function = nullptr;
};

class Adaptor : public dl_adaptor {
 public:
  Adaptor(const dl_adaptor_rule_t* rules, uint64_t count);
  ~Adaptor();
  Adaptor(const Adaptor&) = delete;
  Adaptor& operator=(const Adaptor&) = delete;

  // Returns the adaptor of an instance, or NULL if it has none.
  static Adaptor* of(const dl_vendor_t* vendor);

  // See dl_adaptor_t.bind.
  const dl_operator_t* bind_all(dl_vendor_t* vendor, dl_vendor_t* checked,
                                const dl_operator_t* operators, uint64_t count);

  // Returns NULL for an operator without a rule.
  const Operator* at(size_t number) const { return operators_[number].get(); }
  dl_vendor_t* checked() const { return checked_; }
  Cast cast() const { return cast_; }
  Copy copy() const { return copy_; }

  void count(const Rule& rule, int32_t from_dtype, int32_t to_dtype, int32_t from_format,
             int32_t to_format, bool result, bool on_host);
  uint64_t counts(dl_adaptor_count_t* out, uint64_t size);
  void reset_counts();

 private:
  // Rule, dtypes, formats, is_result, on_host.
  using Key = std::tuple<const Rule*, int32_t, int32_t, int32_t, int32_t, bool, bool>;

  std::vector<std::unique_ptr<Operator>> operators_;  // indexed by the numbers of operators.h
  std::vector<dl_operator_t> adapted_;
  dl_vendor_t* checked_ = nullptr;
  Cast cast_ = nullptr;
  Copy copy_ = nullptr;
  std::mutex counting_;
  std::map<Key, uint64_t> counted_;
};

// Error of the thread's last adapted call; `failed` is NULL if the adaptor did not fail it.
struct LastError {
  const Operator* failed = nullptr;
  std::string reason;
};
LastError& last_error();

}  // namespace dl::adaptor
