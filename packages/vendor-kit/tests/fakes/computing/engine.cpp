// Loads a contract library for the CPU, and calls its operators on memory of the fake device.
#include "engine.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <unordered_map>

#include "dl/status.h"

#include "dl/serial_host.hpp"
#include "dl/vendor.h"

namespace fake_computing {
namespace {

struct Engine {
  dl_host_t host;
  dl_vendor_t* vendor = nullptr;
  std::unordered_map<std::string, void*> functions;
};

Engine* load_engine() {
  const char* path = std::getenv("FAKE_ENGINE");
  void* library = path == nullptr ? nullptr : dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::fprintf(stderr, "simulated library: FAKE_ENGINE names no contract library: %s\n",
                 path == nullptr ? "it is not set" : dlerror());
    std::abort();
  }
  auto* engine = new Engine;
  engine->host = dl::serial_host("simulated library", nullptr);
  const auto entry = reinterpret_cast<dl_vendor_entry_v1_t>(dlsym(library, "dl_vendor_v1"));
  const dl_operator_t* operators = nullptr;
  uint64_t count = 0;
  if (entry == nullptr || entry(&engine->host, &engine->vendor) != nullptr ||
      engine->vendor->table->operators(engine->vendor, &operators, &count) != nullptr) {
    std::fprintf(stderr, "simulated library: %s is not a contract library for this processor\n",
                 path);
    std::abort();
  }
  for (uint64_t i = 0; i < count; ++i)
    engine->functions[operators[i].name] = reinterpret_cast<void*>(operators[i].function);
  return engine;
}

// Never destroyed: the threads of streams run until the process exits.
Engine& engine() {
  static Engine* const loaded = load_engine();
  return *loaded;
}

// A context of one call, with the tensors that the operator allocates.
struct Context {
  dl_context_prefix_t prefix;
  std::deque<Tensor> tensors;
  diopiTensorHandle_t add(Tensor tensor) {
    tensors.push_back(std::move(tensor));
    return tensors.back();
  }
};

thread_local dl_device_error_t data_error{};

Context* context_of(diopiContextHandle_t ctx) { return reinterpret_cast<Context*>(ctx); }

const dl_handle_ops_t kOps = {
    sizeof(dl_handle_ops_t),
    [](diopiContextHandle_t ctx, diopiTensorHandle_t* tensor, const diopiSize_t* size,
       const diopiSize_t* stride, diopiDtype_t dtype, diopiDevice_t) {
      const Sizes sizes(size->data, size->data + size->len);
      if (stride != nullptr && stride->data != nullptr) {
        int64_t reach = product(sizes) == 0 ? 0 : 1;
        for (size_t i = 0; i < sizes.size() && reach != 0; ++i)
          reach += (sizes[i] - 1) * stride->data[i];
        *tensor = context_of(ctx)->add(
            empty({reach}, dtype).view(sizes, Sizes(stride->data, stride->data + stride->len)));
      } else {
        *tensor = context_of(ctx)->add(empty(sizes, dtype));
      }
      return diopiSuccess;
    },
    [](diopiContextHandle_t ctx, diopiTensorHandle_t* tensor, int64_t bytes, diopiDevice_t) {
      *tensor = context_of(ctx)->add(empty({bytes}, diopi_dtype_uint8));
      return diopiSuccess;
    },
    nullptr,
    nullptr,
    nullptr,
    nullptr,
    [](diopiContextHandle_t, dl_device_error_t** word) {
      *word = &data_error;
      return diopiSuccess;
    },
};

}  // namespace

void* engine_function(const char* name) {
  const auto found = engine().functions.find(name);
  if (found == engine().functions.end())
    throw std::logic_error(std::string("the engine has no operator ") + name);
  return found->second;
}

namespace {

void checked_call(Context& context, const char* name,
                  const std::function<diopiError_t(diopiContextHandle_t)>& call) {
  context.prefix = {};
  context.prefix.magic = DL_CONTEXT_MAGIC;
  context.prefix.version = DL_PREFIX_VERSION;
  context.prefix.ops = &kOps;
  context.prefix.host = &engine().host;
  context.prefix.vendor = engine().vendor;
  const diopiError_t code = call(reinterpret_cast<diopiContextHandle_t>(&context));
  if (code == diopiSuccess) return;
  const char* text = engine().vendor->table->last_error(engine().vendor);
  throw Refusal(text != nullptr && *text != '\0' ? text : std::string(name) + " failed");
}

}  // namespace

void engine_call(const char* name, const std::function<diopiError_t(diopiContextHandle_t)>& call) {
  Context context;
  checked_call(context, name, call);
}

std::vector<Tensor> engine_outputs(
    const char* name, size_t count,
    const std::function<diopiError_t(diopiContextHandle_t, diopiTensorHandle_t*)>& call) {
  Context context;
  std::vector<diopiTensorHandle_t> handles(count, nullptr);
  checked_call(context, name, [&](diopiContextHandle_t ctx) { return call(ctx, handles.data()); });
  std::vector<Tensor> outputs(count);
  for (size_t i = 0; i < count; ++i) {
    for (const Tensor& made : context.tensors) {
      if (static_cast<diopiTensorHandle_t>(made) == handles[i]) outputs[i] = made;
    }
  }
  return outputs;
}

std::string take_data_error() {
  if (data_error.state != DL_DEVICE_ERROR_RAISED) return {};
  const std::string text = data_error.operator_name + std::string(": ") + data_error.text;
  data_error = {};
  return text;
}

Generator::Generator(int64_t seed, int64_t offset) : prefix{} {
  constexpr uint64_t kOther = 0x9E3779B97F4A7C15u;
  prefix.magic = DL_GENERATOR_MAGIC;
  prefix.version = DL_PREFIX_VERSION;
  prefix.ops = &kOps;
  prefix.seed = static_cast<uint64_t>(seed) ^ kOther;
  prefix.offset = static_cast<uint64_t>(offset);
}

}  // namespace fake_computing
