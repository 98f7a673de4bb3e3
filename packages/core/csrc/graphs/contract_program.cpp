#include "graphs/contract_program.h"

#include <c10/util/Exception.h>

#include <cstdlib>
#include <cstring>
#include <exception>
#include <optional>

#include "calls/generator_handle.h"
#include "contract/dtype.h"
#include "contract/operators.gen.h"
#include "memory/new_tensor.h"
#include "memory/raw_memory.h"
#include "runtime/device.h"
#include "runtime/host.h"
#include "runtime/status.h"
#include "runtime/stream.h"

namespace dl::core {
namespace {

constexpr size_t kMostBound = 64;

dl_status_t* new_status(int32_t code, const char* message) {
  auto* const text = ::strdup(message);
  return new dl_status_t{sizeof(dl_status_t),
                         code,
                         0,
                         text,
                         "memory_allocate",
                         [](dl_status_t* self) {
                           ::free(const_cast<char*>(self->message));
                           delete self;
                         },
                         nullptr};
}

// The vendor table for the executor, with allocation from this allocator.
struct AllocatingVendor : dl_vendor_t {
  explicit AllocatingVendor(int number) : index(number), owner(*device(number).vendor) {
    const dl_vendor_table_t& vendors = owner.slots();
    slots.struct_size = sizeof slots;
    slots.name = vendors.name;
    slots.version = vendors.version;
    slots.capabilities = vendors.capabilities;
    slots.device_count = forward<&dl_vendor_table_t::device_count>(vendors.device_count);
    slots.device_properties =
        forward<&dl_vendor_table_t::device_properties>(vendors.device_properties);
    slots.memory_allocate = allocate;
    slots.memory_free = release;
    slots.memory_copy = forward<&dl_vendor_table_t::memory_copy>(vendors.memory_copy);
    slots.memory_set = forward<&dl_vendor_table_t::memory_set>(vendors.memory_set);
    slots.stream_synchronize =
        forward<&dl_vendor_table_t::stream_synchronize>(vendors.stream_synchronize);
    slots.device_synchronize =
        forward<&dl_vendor_table_t::device_synchronize>(vendors.device_synchronize);
    slots.device_set = forward<&dl_vendor_table_t::device_set>(vendors.device_set);
    slots.last_error = forward<&dl_vendor_table_t::last_error>(vendors.last_error);
    table = &slots;
  }

  static AllocatingVendor& of(dl_vendor_t* self) { return *static_cast<AllocatingVendor*>(self); }

  // Calls the vendor's own function with the vendor's instance; NULL if the vendor does not have
  // it.
  template <auto kSlot, typename Result, typename... Args>
  static Result (*forward(Result (*slot)(dl_vendor_t*, Args...)))(dl_vendor_t*, Args...) {
    if (slot == nullptr) return nullptr;
    return [](dl_vendor_t* self, Args... args) -> Result {
      const Vendor& vendor = of(self).owner;
      return (vendor.slots().*kSlot)(vendor.checked(), args...);
    };
  }

  static dl_status_t* allocate(dl_vendor_t* self, int32_t, uint64_t bytes, void** memory) {
    try {
      *memory = allocate_raw(bytes, of(self).index);
      return nullptr;
    } catch (const c10::OutOfMemoryError& error) {
      return new_status(DL_OUT_OF_MEMORY, error.what_without_backtrace());
    } catch (const std::exception& error) {
      return new_status(DL_ERROR, error.what());
    }
  }

  static dl_status_t* release(dl_vendor_t*, int32_t, void* memory) {
    try {
      free_raw(memory);
      return nullptr;
    } catch (const std::exception& error) {
      return new_status(DL_ERROR, error.what());
    }
  }

  int index;
  const Vendor& owner;
  dl_vendor_table_t slots{};
};

std::vector<dl_operator_t> operators_of(const Vendor& vendor) {
  std::vector<dl_operator_t> out;
  for (size_t i = 0; i < kOpCount; ++i) {
    const dl_function_t function = vendor.function(static_cast<Op>(i));
    if (function != nullptr) out.push_back({kOpNames[i], kOpFingerprints[i], function, 0});
  }
  return out;
}

uint64_t span_bytes(const TensorLayout& layout) {
  int64_t last = 0;
  for (size_t i = 0; i < layout.sizes.size(); ++i) {
    if (layout.sizes[i] == 0) return 0;
    last += (layout.sizes[i] - 1) * layout.strides[i];
  }
  return static_cast<uint64_t>(last + 1) * c10::elementSize(layout.type);
}

}  // namespace

// Layouts for one tuple of sizes.
struct ContractProgram::Bound {
  std::vector<TensorLayout> inputs;
  std::vector<int64_t> blocks;
  std::vector<TensorLayout> outputs;
  std::vector<dl_contract_tensor_t> tensors;  // for the executor, without data pointers
  std::vector<dl_contract_size_t> passed;
};

struct ContractProgram::Session {
  Session(const ContractProgram& program, void* stream)
      : close(program.executor_.close), vendor(program.device_) {
    const std::vector<dl_operator_t> operators = operators_of(vendor.owner);
    dl_contract_target_t target{};
    target.struct_size = sizeof target;
    target.host = host_table();
    target.vendor = vendor.owner.instance();
    target.checked = &vendor;
    target.operators = operators.data();
    target.operator_count = operators.size();
    target.stream = stream;
    target.device = device(program.device_).local;
    check_status(program.executor_.open(program.graph_, &target, &session), "a graph",
                 vendor.owner.name());
    if (!program.generator_.empty())
      check_status(program.executor_.generator(session, program.generator_.c_str(), &generator),
                   "a graph's generator", vendor.owner.name());
  }
  ~Session() {
    if (session != nullptr) close(session);
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  decltype(&dl_contract_session_close) close;
  AllocatingVendor vendor;
  dl_contract_session_t* session = nullptr;
  dl_generator_prefix_t* generator = nullptr;
  std::shared_ptr<const Bound> bound;
  std::vector<dl_contract_tensor_t> inputs;
};

ContractProgram::ContractProgram(const dl_contract_graph_t* graph, const ContractExecutor& executor,
                                 int device, std::string generator,
                                 std::vector<ContractInput> inputs,
                                 std::vector<SizeExpression> blocks,
                                 std::vector<ContractOutput> outputs,
                                 std::vector<PassedSize> passed)
    : graph_(graph),
      executor_(executor),
      device_(device),
      generator_(std::move(generator)),
      entry_(0),
      inputs_(std::move(inputs)),
      blocks_(std::move(blocks)),
      outputs_(std::move(outputs)),
      passed_(std::move(passed)) {}

ContractProgram::~ContractProgram() = default;

std::shared_ptr<const ContractProgram::Bound> ContractProgram::bind(const Sizes& sizes) {
  const std::lock_guard<std::mutex> guard(mutex_);
  const auto found = bound_.find(sizes);
  if (found != bound_.end()) return found->second;
  const auto known = [](auto value) {
    TORCH_CHECK(value.has_value(), "[dl] sizes of a compiled graph leave the integers of 64 bits");
    return *std::move(value);
  };
  auto made = std::make_shared<Bound>();
  for (const ContractInput& input : inputs_)
    made->inputs.push_back(known(input.layout.bound(sizes)));
  for (const ContractOutput& output : outputs_)
    made->outputs.push_back(known(output.layout.bound(sizes)));
  for (const SizeExpression& block : blocks_) {
    std::optional<int64_t> bytes(0);
    if (!block.value(sizes, *bytes) || *bytes < 0) bytes.reset();
    made->blocks.push_back(known(bytes));
  }
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const TensorLayout& view = made->outputs[i];
    const uint64_t end = span_bytes(view) + view.offset * c10::elementSize(view.type);
    TORCH_CHECK(end <= static_cast<uint64_t>(made->blocks[outputs_[i].block]), "[dl] result ", i,
                " of a compiled graph reaches beyond its memory");
  }
  for (const TensorLayout& layout : made->inputs)
    made->tensors.push_back({sizeof(dl_contract_tensor_t), nullptr, span_bytes(layout),
                             layout.sizes.data(), layout.strides.data(),
                             static_cast<int64_t>(layout.sizes.size()),
                             static_cast<int32_t>(to_diopi(layout.type)), diopi_device});
  for (const int64_t& bytes : made->blocks)
    made->tensors.push_back({sizeof(dl_contract_tensor_t), nullptr, static_cast<uint64_t>(bytes),
                             &bytes, nullptr, 1, diopi_dtype_uint8, diopi_device});
  for (const PassedSize& size : passed_)
    made->passed.push_back({size.name.c_str(), sizes[size.symbol]});
  // Lengths that grow with each call never recur, so drop the cache instead of growing it.
  if (bound_.size() >= kMostBound) bound_.clear();
  return bound_[sizes] = std::move(made);
}

std::unique_ptr<ContractProgram::Session> ContractProgram::take(void* stream) {
  {
    const std::lock_guard<std::mutex> guard(mutex_);
    auto& idle = idle_[stream];
    if (!idle.empty()) {
      std::unique_ptr<Session> found = std::move(idle.back());
      idle.pop_back();
      return found;
    }
  }
  return std::make_unique<Session>(*this, stream);
}

void ContractProgram::give_back(void* stream, std::unique_ptr<Session> session) {
  const std::lock_guard<std::mutex> guard(mutex_);
  idle_[stream].push_back(std::move(session));
}

std::vector<at::Tensor> ContractProgram::run(const std::vector<at::Tensor>& inputs,
                                             const Sizes& sizes) {
  check_not_forked();
  TORCH_CHECK(inputs.size() == inputs_.size(), "[dl] a compiled graph takes ", inputs_.size(),
              " tensors, not ", inputs.size());
  const DeviceScope scope(device_);
  void* const stream = current_native_stream(device_);
  const std::shared_ptr<const Bound> bound = bind(sizes);
  std::unique_ptr<Session> session = take(stream);
  if (session->bound != bound) {
    session->inputs = bound->tensors;
    session->bound = bound;
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const at::Tensor& tensor = inputs[i];
    TORCH_CHECK(tensor.get_device() == device_ && bound->inputs[i].holds(tensor), "[dl] input ", i,
                " has a different layout than the one for which the graph was compiled: ",
                tensor.scalar_type(), tensor.sizes());
    session->inputs[i].data =
        inputs_[i].written ? tensor.mutable_data_ptr() : const_cast<void*>(tensor.const_data_ptr());
  }
  std::vector<at::Tensor> made;
  made.reserve(bound->blocks.size());
  for (size_t i = 0; i < bound->blocks.size(); ++i) {
    made.push_back(empty_on(device_, {bound->blocks[i]}, at::kByte));
    session->inputs[inputs.size() + i].data = made.back().mutable_data_ptr();
  }
  const auto enqueue = [&] {
    check_status(
        executor_.run(session->session, entry_, session->inputs.data(), session->inputs.size(),
                      bound->passed.data(), bound->passed.size(), nullptr, 0),
        "a compiled graph", session->vendor.owner.name());
  };
  if (session->generator == nullptr) {
    enqueue();
  } else {
    GeneratorHandle generator(std::nullopt, device_);
    auto& state = *reinterpret_cast<dl_generator_prefix_t*>(generator.get());
    session->generator->seed = state.seed;
    session->generator->offset = state.offset;
    enqueue();
    state.offset = session->generator->offset;
  }
  give_back(stream, std::move(session));
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs_[i].written && !inputs[i].is_inference())
      inputs[i].unsafeGetTensorImpl()->bump_version();
  std::vector<at::Tensor> results;
  results.reserve(outputs_.size());
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const TensorLayout& layout = bound->outputs[i];
    at::Tensor view =
        at::detail::make_tensor<c10::TensorImpl>(c10::Storage(made[outputs_[i].block].storage()),
                                                 kDlKeys, c10::scalarTypeToTypeMeta(layout.type));
    c10::TensorImpl* const impl = view.unsafeGetTensorImpl();
    impl->set_sizes_and_strides(layout.sizes, layout.strides, layout.offset);
    results.push_back(std::move(view));
  }
  return results;
}

}  // namespace dl::core
