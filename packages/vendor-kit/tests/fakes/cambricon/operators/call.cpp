// Every function of the fake library that computes, or that sizes a workspace.
#include "call.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

#include "../../computing/engine.h"
#include "../hooks.h"

namespace fake_cnnl {
namespace {

constexpr int kAsynchronousFailure = 100132;  // cnrtErrorKernelTrap
// Larger arguments are not rehearsed: their errors come from the queue.
constexpr int64_t kMostRehearsed = int64_t{64} << 20;
constexpr size_t kMostKeys = 200000;

// The last workspace that a function sized on this thread, and the layouts that it saw.
struct Sized {
  uint64_t bytes = 0;
  std::vector<std::string> layouts;
};
thread_local std::unordered_map<std::string, Sized> sized;

std::string layout_text(const TensorDescriptor& desc) {
  std::string text = std::to_string(desc.dtype) + "/" + std::to_string(desc.layout);
  for (const int64_t size : desc.sizes) text += "," + std::to_string(size);
  return text;
}

// Returns the layouts of all tensor descriptors of a call; false if one is not alive.
bool layouts_of(const Function& function, const fake_cambricon::Value* values,
                std::vector<std::string>* all) {
  for (int i = 0; i < function.count; ++i) {
    if (function.arguments[i].kind != ArgumentKind::k_descriptor || values[i].object == nullptr)
      continue;
    auto* const found =
        static_cast<TensorDescriptor*>(find_object(values[i].object, Kind::kTensor));
    if (found == nullptr || !found->is_set) return false;
    all->push_back(layout_text(*found));
  }
  return true;
}

const fake_cambricon::Value* find_value(const Function& function,
                                        const fake_cambricon::Value* values, ArgumentKind kind) {
  for (int i = 0; i < function.count; ++i) {
    if (function.arguments[i].kind == kind) return &values[i];
  }
  return nullptr;
}

int size_workspace(const Function& function, const fake_cambricon::Value* values, void* result) {
  Sized made;
  if (result == nullptr || !layouts_of(function, values, &made.layouts))
    return misuse(std::string(function.name) +
                  ": a descriptor is not alive, or the result is NULL");
  uint64_t hash = std::hash<std::string>()(function.name);
  for (const std::string& layout : made.layouts)
    hash = hash * 31 + std::hash<std::string>()(layout);
  made.bytes = odd_size(hash);
  std::memcpy(result, &made.bytes, sizeof(size_t));
  sized[function.name] = made;
  return CNNL_STATUS_SUCCESS;
}

int check_workspace(const Function& function, const fake_cambricon::Value* values, int device,
                    const std::vector<BoundArgument>& bound, void** workspace, uint64_t* bytes) {
  const auto* const memory = find_value(function, values, ArgumentKind::k_workspace);
  const auto* const size = find_value(function, values, ArgumentKind::k_workspace_size);
  if (memory == nullptr || size == nullptr) return CNNL_STATUS_SUCCESS;
  const std::string where = function.name;
  uint64_t wanted = 0;
  if (function.workspace != nullptr) {
    const auto found = sized.find(function.workspace);
    if (found == sized.end())
      return misuse(where + ": " + function.workspace + " was not called before");
    wanted = found->second.bytes;
    std::vector<std::string> layouts;
    if (!layouts_of(function, values, &layouts))
      return misuse(where + ": a descriptor is not alive");
    for (const std::string& layout : found->second.layouts) {
      if (std::find(layouts.begin(), layouts.end(), layout) == layouts.end())
        return misuse(where + ": its workspace was sized for other tensors");
    }
  } else {
    // The algorithm of a product states the size.
    for (int i = 0; i < function.count; ++i) {
      if (function.arguments[i].kind != ArgumentKind::k_object) continue;
      auto* const algorithm =
          static_cast<OperatorDescriptor*>(find_object(values[i].object, Kind::kAlgorithm));
      if (algorithm == nullptr) continue;
      wanted = algorithm->workspace;
      std::vector<Sizes> shapes;
      for_each_tensor(function, bound,
                      [&](const Check&, const Bound& tensor) { shapes.push_back(tensor.sizes); });
      if (shapes != algorithm->shapes)
        return misuse(where + ": the algorithm was chosen for other shapes");
      for (const BoundArgument& argument : bound) {
        const auto* const given = std::get_if<Described>(&argument);
        if (given != nullptr && given->present && given->numbers != algorithm->values.numbers)
          return misuse(where + ": the algorithm was chosen for another descriptor");
      }
    }
  }
  *workspace = const_cast<void*>(memory->object);
  *bytes = static_cast<uint64_t>(size->integer);
  if (*bytes != wanted)
    return misuse(where + ": the workspace has " + std::to_string(*bytes) + " bytes instead of " +
                  std::to_string(wanted));
  if (fakeCnrtHostAddress(device, *workspace, *bytes) == nullptr)
    return misuse(where + ": the workspace is not inside one live allocation of device " +
                  std::to_string(device));
  const auto begin = reinterpret_cast<uintptr_t>(*workspace);
  int status = CNNL_STATUS_SUCCESS;
  for_each_tensor(function, bound, [&](const Check& check, const Bound& tensor) {
    const auto base = reinterpret_cast<uintptr_t>(tensor.base);
    if (status == CNNL_STATUS_SUCCESS && begin < base + tensor.bytes() && base < begin + *bytes)
      status = misuse(where + ": the workspace overlaps " + check.name);
  });
  return status;
}

struct Job {
  const Function* function;
  std::vector<BoundArgument> arguments;
  int device;
  void* workspace = nullptr;
  uint64_t workspace_bytes = 0;
};

int run_job(void* argument) {
  const Job& job = *static_cast<Job*>(argument);
  if (job.workspace_bytes != 0) {
    void* memory = fakeCnrtHostAddress(job.device, job.workspace, job.workspace_bytes);
    if (memory == nullptr) {
      misuse(std::string(job.function->name) + ": the workspace was freed before the work ran");
      return kAsynchronousFailure;
    }
    std::memset(memory, 0xA5, job.workspace_bytes);
  }
  if (const int code = injected(std::string(job.function->name) + "@queue")) return code;
  return perform(*job.function, job.arguments, job.device);
}

using Owned = std::pair<void*, std::shared_ptr<void>>;
using Memory = std::function<Owned(const Check&, const Bound&)>;

Arguments resolve(const Function& function, const std::vector<BoundArgument>& bound,
                  const Memory& memory) {
  Arguments made;
  const auto tensor_of = [&](const Check& check, const Bound& from) {
    if (!from.present) return Tensor();
    const auto [data, keep] = memory(check, from);
    return Tensor(data, from.sizes, from.strides, contract_dtype(from.dtype), keep);
  };
  for (size_t i = 0; i < bound.size(); ++i) {
    const Check& check = function.arguments[i];
    std::visit(
        [&](const auto& value) {
          using T = std::decay_t<decltype(value)>;
          if constexpr (std::is_same_v<T, Bound>) {
            made.values.emplace_back(tensor_of(check, value));
          } else if constexpr (std::is_same_v<T, BoundList>) {
            Tensors list;
            list.present = true;
            for (const Bound& each : value.tensors) list.values.push_back(tensor_of(check, each));
            made.values.emplace_back(std::move(list));
          } else {
            made.values.emplace_back(value);
          }
        },
        bound[i]);
  }
  return made;
}

Owned zeros_for(const Bound& tensor) {
  std::shared_ptr<void> memory(std::calloc(std::max<size_t>(tensor.bytes(), 1), 1), std::free);
  return {memory.get(), memory};
}

// Identifies a rehearsed call by everything but the elements.
std::string key_of(const Function& function, const std::vector<BoundArgument>& bound) {
  std::string key = function.name;
  const auto add = [&key](const void* data, size_t bytes) {
    key.append(static_cast<const char*>(data), bytes);
  };
  const auto add_tensor = [&](const Bound& tensor) {
    const int64_t facts[] = {tensor.present, tensor.dtype, tensor.layout,
                             static_cast<int64_t>(tensor.sizes.size())};
    add(facts, sizeof facts);
    add(tensor.sizes.data(), tensor.sizes.size() * sizeof(int64_t));
    add(tensor.strides.data(), tensor.strides.size() * sizeof(int64_t));
  };
  for (const BoundArgument& argument : bound) {
    key += static_cast<char>('a' + argument.index());
    if (const auto* tensor = std::get_if<Bound>(&argument)) {
      add_tensor(*tensor);
    } else if (const auto* list = std::get_if<BoundList>(&argument)) {
      key += std::to_string(list->tensors.size()) + ";";
      for (const Bound& each : list->tensors) add_tensor(each);
    } else if (const auto* described = std::get_if<Described>(&argument)) {
      for (const auto& [name, number] : described->numbers) {
        key += name;
        add(&number, sizeof number);
      }
      for (const auto& [name, values] : described->lists) {
        key += name + std::to_string(values.size()) + ";";
        add(values.data(), values.size() * sizeof(int64_t));
      }
    } else if (const auto* integer = std::get_if<int64_t>(&argument)) {
      add(integer, sizeof *integer);
    }
  }
  return key;
}

}  // namespace

const Meaning* find_meaning(const std::string& name) {
  static const auto* const known = [] {
    auto* map = new std::unordered_map<std::string, const Meaning*>;
    for (size_t i = 0; i < kMeaningCount; ++i) (*map)[kMeanings[i].name] = &kMeanings[i];
    return map;
  }();
  const auto found = known->find(name);
  return found == known->end() ? nullptr : found->second;
}

int rehearse(const Function& function, const std::vector<BoundArgument>& bound) {
  static std::mutex* const mutex = new std::mutex;
  static auto* const rehearsed = new std::unordered_set<std::string>;
  const std::string key = key_of(function, bound);
  {
    const std::lock_guard<std::mutex> lock(*mutex);
    if (rehearsed->count(key) != 0) return CNNL_STATUS_SUCCESS;
  }
  size_t bytes = 0;
  for_each_tensor(function, bound,
                  [&](const Check&, const Bound& tensor) { bytes += tensor.bytes(); });
  if (bytes > static_cast<size_t>(kMostRehearsed)) return CNNL_STATUS_SUCCESS;
  try {
    find_meaning(function.name)
        ->run(resolve(function, bound,
                      [](const Check&, const Bound& tensor) { return zeros_for(tensor); }));
    take_data_error();
  } catch (const std::exception& error) {
    take_data_error();
    return refuse(CNNL_STATUS_BAD_PARAM, std::string(function.name) + ": " + error.what());
  }
  const std::lock_guard<std::mutex> lock(*mutex);
  if (rehearsed->size() >= kMostKeys) rehearsed->clear();
  rehearsed->insert(key);
  return CNNL_STATUS_SUCCESS;
}

int perform(const Function& function, const std::vector<BoundArgument>& bound, int device) {
  const auto is_output = [&](const Bound& input) {
    bool found = false;
    for_each_tensor(function, bound, [&](const Check& check, const Bound& other) {
      if (check.writes && other.base == input.base) found = true;
    });
    return found;
  };
  const auto fail = [&](const std::string& text) {
    std::fprintf(stderr, "simulated CNNL: %s failed on its queue: %s\n", function.name,
                 text.c_str());
    log_line(std::string(function.name) + " failed on its queue: " + text);
    return kAsynchronousFailure;
  };
  try {
    const Memory memory = [&](const Check& check, const Bound& tensor) -> Owned {
      void* const base = fakeCnrtHostAddress(device, tensor.base, tensor.bytes());
      if (base == nullptr)
        throw std::runtime_error(std::string("the memory of ") + check.name +
                                 " was freed before the work ran");
      if (check.writes || !is_output(tensor)) return {base, nullptr};
      // The same tensor as input and output: the meaning reads a copy.
      const Owned copy = zeros_for(tensor);
      std::memcpy(copy.first, base, tensor.bytes());
      return copy;
    };
    find_meaning(function.name)->run(resolve(function, bound, memory));
  } catch (const std::exception& error) {
    take_data_error();
    return fail(error.what());
  }
  const std::string wrong = take_data_error();
  return wrong.empty() ? 0 : fail(wrong);
}

}  // namespace fake_cnnl

using namespace fake_cnnl;

__attribute__((visibility("default"))) int fake_cambricon::call(const Function& function,
                                                                const Value* values) {
  const std::string where = function.name;
  log_line(where);
  if (const int status = injected(where)) return status;
  const int device = fakeCnrtCurrentDevice();
  const Value* const given = find_value(function, values, ArgumentKind::k_handle);
  auto* const handle =
      given == nullptr ? nullptr
                       : static_cast<Handle*>(find_object(given->object, fake_cnnl::Kind::kHandle));
  if (handle == nullptr) return misuse(where + ": the handle is not alive");
  if (handle->device != device) return misuse(where + ": the handle's device is not current");
  if (!handle->is_bound) return misuse(where + ": the handle has no queue");
  if (const Value* const result = find_value(function, values, ArgumentKind::k_workspace_result))
    return size_workspace(function, values, const_cast<void*>(result->object));
  if (find_meaning(where) == nullptr)
    return refuse(CNNL_STATUS_NOT_SUPPORTED, where + ": the fake has no meaning for it");
  auto job = std::make_unique<Job>();
  job->function = &function;
  job->device = device;
  if (const int status = bind_arguments(function, values, device, &job->arguments)) return status;
  if (const int status = check_workspace(function, values, device, job->arguments, &job->workspace,
                                         &job->workspace_bytes))
    return status;
  if (const int status = rehearse(function, job->arguments)) return status;
  const int failed = fakeCnrtEnqueue(handle->queue, run_job, job.release(),
                                     [](void* argument) { delete static_cast<Job*>(argument); });
  return failed == 0 ? int{CNNL_STATUS_SUCCESS}
                     : misuse(where + ": the queue of the handle is not alive");
}
