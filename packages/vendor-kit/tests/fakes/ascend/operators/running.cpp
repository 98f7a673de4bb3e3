// Runs meanings: a rehearsal in phase 1, and the run on the stream in phase 2.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <unordered_set>

#include "../../computing/engine.h"
#include "../hooks.h"
#include "executor.h"
#include "numbers.h"

namespace fake_aclnn {

Dtype Arguments::dtype_argument(int64_t number) { return contract_dtype(static_cast<int>(number)); }

namespace {

constexpr int kAsynchronousFailure = 507015;  // ACL_ERROR_RT_AICORE_EXCEPTION
// Larger arguments are not rehearsed: their errors come from the stream.
constexpr int64_t kMostRehearsed = int64_t{64} << 20;
constexpr size_t kMostKeys = 200000;

// Converts the arguments of a call; `memory` returns the address of a tensor's first element, and
// what keeps it.
using Memory =
    std::function<std::pair<void*, std::shared_ptr<void>>(const char*, bool, const Bound&)>;

Arguments resolve(const Function& function, const std::vector<Argument>& bound,
                  const Memory& memory, bool reports) {
  const auto tensor_of = [&](size_t index, bool written, const Bound& from) {
    if (from.tensor == nullptr) return Tensor();
    const auto [data, keep] = memory(function.arguments[index].name, written, from);
    Tensor made(data, from.sizes, from.strides, contract_dtype(from.dtype), keep);
    if (reports) {
      made.on_view_shape(
          [tensor = from.tensor](const Sizes& sizes) { set_view_shape(tensor, sizes); });
    }
    return made;
  };
  Arguments made;
  for (size_t i = 0; i < bound.size(); ++i) {
    const bool written = is_written(function, i);
    std::visit(
        [&](const auto& value) {
          using T = std::decay_t<decltype(value)>;
          if constexpr (std::is_same_v<T, Bound>) {
            made.values.emplace_back(tensor_of(i, written, value));
          } else if constexpr (std::is_same_v<T, BoundList>) {
            Tensors list;
            list.present = value.list != nullptr;
            for (const Bound& element : value.tensors)
              list.values.push_back(tensor_of(i, written, element));
            made.values.emplace_back(std::move(list));
          } else {
            made.values.emplace_back(value);
          }
        },
        bound[i]);
  }
  return made;
}

using Owned = std::pair<void*, std::shared_ptr<void>>;

Owned zeros_for(const Bound& tensor) {
  const int64_t reach = reach_of(tensor) - (elements(tensor) == 0 ? 0 : tensor.offset);
  const size_t bytes = element_bytes(tensor.dtype) * static_cast<size_t>(reach);
  if (bytes == 0) return {nullptr, nullptr};
  std::shared_ptr<void> memory(std::calloc(bytes, 1), std::free);
  return {memory.get(), memory};
}
// The same memory with ones, for functions that refuse zeros in their data, such as divisors.
Owned ones_for(const Bound& tensor) {
  const Owned memory = zeros_for(tensor);
  if (memory.first == nullptr) return memory;
  const Tensor all(memory.first, {reach_of(tensor) - tensor.offset}, {1},
                   contract_dtype(tensor.dtype), memory.second);
  RUN(diopiFill, all, Scalar::of(1));
  return memory;
}

// Devices move whole 32-byte units, so that up to 32 bytes behind a written storage may change; a
// host leaves as many bytes behind each block. With FAKE_ACLNN_SPILL=1 they do change.
constexpr uintptr_t kSpill = 32;

void spill(const Function& function, std::vector<Argument>& arguments, int32_t device) {
  const char* setting = std::getenv("FAKE_ACLNN_SPILL");
  if (setting == nullptr || std::strcmp(setting, "1") != 0) return;
  for_each_tensor(function, arguments, [&](const Check&, bool written, Bound& tensor) {
    if (!written || elements(tensor) == 0) return;
    const size_t bytes = element_bytes(tensor.dtype) * static_cast<size_t>(product(tensor.storage));
    const char* end = static_cast<const char*>(tensor.base) + bytes;
    if (void* behind = fakeAclHostAddress(device, end, kSpill)) std::memset(behind, 0xA5, kSpill);
  });
}

// Identifies a rehearsed call. Sizes precede elements, so that no two calls share a key.
class Key {
 public:
  explicit Key(const std::string& name) : text_(name) {}
  void add(int64_t value) { text_.append(reinterpret_cast<const char*>(&value), sizeof value); }
  void add(const Sizes& values) {
    add(static_cast<int64_t>(values.size()));
    for (const int64_t value : values) add(value);
  }
  void add(double value) { text_.append(reinterpret_cast<const char*>(&value), sizeof value); }
  void add(const std::string& value) { text_ += value + '\0'; }
  void add(const Bound& tensor) {
    add(int64_t{tensor.tensor != nullptr});
    add(int64_t{tensor.dtype});
    add(tensor.sizes);
    add(tensor.strides);
  }
  void add(const BoundList& list) {
    add(int64_t{list.list != nullptr});
    add(static_cast<int64_t>(list.tensors.size()));
    for (const Bound& tensor : list.tensors) add(tensor);
  }
  void add(const Scalar& scalar) {
    add(int64_t{scalar ? 1 : 0});
    if (scalar) add(int64_t{scalar.is_real()});
    if (scalar) add(scalar.real());
  }
  void add(const Ints& ints) {
    add(int64_t{ints.present});
    add(ints.values);
  }
  void add(const Bools& bools) {
    add(static_cast<int64_t>(bools.values.size()));
    for (const bool value : bools.values) add(int64_t{value});
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

std::mutex rehearsed_mutex;
// Never destroyed, as threads may still run calls when the process exits.
std::unordered_set<std::string>& rehearsed() {
  static auto* const made = new std::unordered_set<std::string>;
  return *made;
}

}  // namespace

int rehearse(const Function& function, const std::vector<Argument>& bound) {
  Key key(function.name);
  for (const Argument& argument : bound)
    std::visit([&](const auto& value) { key.add(value); }, argument);
  {
    const std::lock_guard<std::mutex> lock(rehearsed_mutex);
    if (rehearsed().count(key.text()) != 0) return kOk;
  }
  int64_t bytes = 0;
  auto& arguments = const_cast<std::vector<Argument>&>(bound);
  for_each_tensor(function, arguments, [&](const Check&, bool, Bound& tensor) {
    bytes += reach_of(tensor) * static_cast<int64_t>(element_bytes(tensor.dtype));
  });
  if (bytes > kMostRehearsed) return kOk;
  const auto run = [&](Owned (*memory)(const Bound&)) {
    std::string problem;
    try {
      const Memory make = [&](const char*, bool, const Bound& tensor) { return memory(tensor); };
      find_meaning(function.name)->run(resolve(function, bound, make, false));
    } catch (const std::exception& error) {
      problem = error.what();
    }
    take_data_error();
    return problem;
  };
  const std::string problem = run(zeros_for);
  if (!problem.empty() && !run(ones_for).empty())
    return refuse(kInvalidArgument, std::string(function.name) + ": " + problem);
  const std::lock_guard<std::mutex> lock(rehearsed_mutex);
  if (rehearsed().size() >= kMostKeys) rehearsed().clear();
  rehearsed().insert(key.text());
  return kOk;
}

int perform(const Function& function, const std::vector<Argument>& bound, int32_t device) {
  auto& arguments = const_cast<std::vector<Argument>&>(bound);
  const auto is_output = [&](const Bound& input) {
    bool found = false;
    for_each_tensor(function, arguments, [&](const Check&, bool written, Bound& other) {
      if (written && other.base == input.base && other.offset == input.offset &&
          elements(other) != 0)
        found = true;
    });
    return found;
  };
  const auto fail = [&](const std::string& text) {
    const std::string line =
        std::string("simulated aclnn: ") + function.name + " failed on its stream: " + text;
    std::fprintf(stderr, "%s\n", line.c_str());
    log_line(line);
    return kAsynchronousFailure;
  };
  try {
    const Memory memory = [&](const char* name, bool written,
                              const Bound& tensor) -> std::pair<void*, std::shared_ptr<void>> {
      if (elements(tensor) == 0) return {nullptr, nullptr};
      const size_t itemsize = element_bytes(tensor.dtype);
      const size_t bytes = itemsize * static_cast<size_t>(product(tensor.storage));
      char* base = static_cast<char*>(fakeAclHostAddress(device, tensor.base, bytes));
      if (base == nullptr)
        throw std::runtime_error(std::string("the memory of ") + name +
                                 " was freed before the work ran");
      base += itemsize * static_cast<size_t>(tensor.offset);
      if (written || !is_output(tensor)) return {base, nullptr};
      // The same tensor as input and output: the meaning reads a copy.
      auto copy = zeros_for(tensor);
      std::memcpy(copy.first, base,
                  itemsize * static_cast<size_t>(reach_of(tensor) - tensor.offset));
      return copy;
    };
    find_meaning(function.name)->run(resolve(function, bound, memory, true));
    spill(function, arguments, device);
  } catch (const std::exception& error) {
    take_data_error();
    return fail(error.what());
  }
  const std::string wrong = take_data_error();
  return wrong.empty() ? 0 : fail(wrong);
}

}  // namespace fake_aclnn
