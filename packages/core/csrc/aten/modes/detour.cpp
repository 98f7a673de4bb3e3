#include "aten/modes/detour.h"

#include <ATen/core/enum_tag.h>
#include <c10/util/Exception.h>
#include <torch/library.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <shared_mutex>
#include <unordered_map>

#include "aten/fallback/fallback_typed.h"

namespace dl::core {
namespace {

using c10::DispatchKey;

// The kernel of an operator without detours, and its active detours. Never freed, because a call
// may still be executing it.
struct Detour {
  std::optional<c10::SafeKernelFunction> kernel;
  std::optional<c10::SafeKernelFunction> decomposition;
  std::atomic<bool> watched{false};
  std::atomic<bool> decomposed{false};
  // Set while at least one of the detours is active.
  std::unique_ptr<torch::Library> registration;
  std::unique_ptr<torch::Library> above_autograd;
};

std::atomic<Watcher> current_watcher{nullptr};
thread_local bool unwatched = false;

std::mutex changing;
std::shared_mutex table_mutex;
std::unordered_map<const c10::FunctionSchema*, Detour*>& table() {
  static auto* map = new std::unordered_map<const c10::FunctionSchema*, Detour*>;
  return *map;
}

Detour& detour_of(const c10::OperatorHandle& op) {
  const std::shared_lock<std::shared_mutex> lock(table_mutex);
  return *table().at(&op.schema());
}

void take(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack) {
  if (!unwatched && detour_of(op).watched.load(std::memory_order_relaxed)) {
    if (const Watcher watcher = current_watcher.load(std::memory_order_acquire))
      return watcher(op, keys, stack);
  }
  pass(op, keys, stack);
}

// Runs torch's decomposition of an operator before autograd sees the operator.
void take_apart(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack) {
  detour_of(op).decomposition->callBoxed(op, keys, stack);
}

// Suppresses the dispatcher's warning about replaced kernels, which is intended here.
class NoWarnings : public c10::WarningHandler {
  void process(const c10::Warning&) override {}
};

std::unique_ptr<torch::Library> register_kernel(const c10::OperatorHandle& op, DispatchKey key,
                                                torch::CppFunction&& function) {
  NoWarnings no_warnings;
  const c10::WarningUtils::WarningHandlerGuard guard(&no_warnings);
  auto library = std::make_unique<torch::Library>(torch::Library::IMPL, "aten",
                                                  std::make_optional(key), __FILE__, __LINE__);
  const std::string name = c10::toString(op.operator_name());
  library->impl(name.c_str(), std::move(function));
  return library;
}

bool is_implicit(const c10::OperatorHandle& op) {
  return op.hasKernelForDispatchKey(DispatchKey::CompositeImplicitAutograd);
}

std::optional<DispatchKey> decomposition_key(const c10::OperatorHandle& op) {
  for (const DispatchKey key :
       {DispatchKey::CompositeImplicitAutograd, DispatchKey::CompositeExplicitAutograd,
        DispatchKey::CompositeExplicitAutogradNonFunctional}) {
    if (op.hasKernelForDispatchKey(key)) return key;
  }
  return std::nullopt;
}

// Returns true if the operator returns a view of an argument.
bool is_view(const c10::OperatorHandle& op) {
  if (op.hasTag(at::Tag::inplace_view)) return true;
  bool shares = false;
  bool writes = false;
  for (const c10::Argument& argument : op.schema().arguments()) {
    shares |= argument.alias_info() != nullptr;
    writes |= argument.alias_info() != nullptr && argument.alias_info()->isWrite();
  }
  for (const c10::Argument& result : op.schema().returns())
    shares |= result.alias_info() != nullptr;
  return shares && !writes;
}

// The key of a device without kernels: torch runs decompositions for it.
constexpr DispatchKey kNoDevice = DispatchKey::PrivateUse3;

Detour& made_for(const c10::OperatorHandle& op) {
  {
    const std::shared_lock<std::shared_mutex> lock(table_mutex);
    const auto found = table().find(&op.schema());
    if (found != table().end()) return *found->second;
  }
  auto* detour = new Detour;
  detour->kernel = op.getComputedKernelForDispatchKey(DispatchKey::PrivateUse1);
  if (decomposition_key(op)) detour->decomposition = op.getComputedKernelForDispatchKey(kNoDevice);
  const std::unique_lock<std::shared_mutex> lock(table_mutex);
  return *(table()[&op.schema()] = detour);
}

void settle(const c10::OperatorHandle& op, Detour& detour) {
  const bool wanted = detour.watched || detour.decomposed;
  if (wanted && detour.registration == nullptr) {
    detour.registration = register_kernel(op, DispatchKey::PrivateUse1,
                                          torch::CppFunction::makeFromBoxedFunction<&take>());
  } else if (!wanted) {
    detour.registration.reset();
  }
  if (!is_implicit(op)) return;
  if (detour.decomposed && detour.above_autograd == nullptr) {
    detour.above_autograd =
        register_kernel(op, DispatchKey::AutogradPrivateUse1,
                        torch::CppFunction::makeFromBoxedFunction<&take_apart>());
  } else if (!detour.decomposed) {
    detour.above_autograd.reset();
  }
}

void set_exactly(const std::vector<std::string>& overloads, std::atomic<bool> Detour::* flag) {
  const std::lock_guard<std::mutex> lock(changing);
  std::set<const c10::FunctionSchema*> wanted;
  std::vector<c10::OperatorHandle> touched;
  for (const std::string& overload : overloads) {
    const c10::OperatorHandle op = find_operator(overload.c_str()).handle;
    wanted.insert(&op.schema());
    (made_for(op).*flag).store(true);
    touched.push_back(op);
  }
  for (const auto& [schema, detour] : table()) {
    if (!(detour->*flag) || wanted.count(schema)) continue;
    (detour->*flag).store(false);
    touched.push_back(c10::Dispatcher::singleton().findSchemaOrThrow(
        schema->name().c_str(), schema->overload_name().c_str()));
  }
  for (const c10::OperatorHandle& op : touched) settle(op, detour_of(op));
}

template <typename F>
std::vector<std::string> overloads_where(F&& fits) {
  std::vector<std::string> result;
  c10::Dispatcher& dispatcher = c10::Dispatcher::singleton();
  for (const c10::OperatorName& name : dispatcher.getAllOpNames()) {
    if (name.name.rfind("aten::", 0) != 0) continue;
    const auto op = dispatcher.findSchema(name);
    if (op && fits(*op)) result.push_back(c10::toString(name).substr(6));
  }
  return result;
}

}  // namespace

void set_watcher(Watcher watcher) { current_watcher.store(watcher, std::memory_order_release); }

Unwatched::Unwatched() : outer_(unwatched) { unwatched = true; }
Unwatched::~Unwatched() { unwatched = outer_; }

void pass(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack) {
  const Detour& detour = detour_of(op);
  const bool decomposed = detour.decomposed.load(std::memory_order_relaxed);
  (decomposed ? detour.decomposition : detour.kernel)->callBoxed(op, keys, stack);
}

void watch(const std::vector<std::string>& overloads) { set_exactly(overloads, &Detour::watched); }

void decompose(const std::vector<std::string>& overloads) {
  set_exactly(overloads, &Detour::decomposed);
}

std::vector<std::string> watchable_operators() {
  return overloads_where([](const c10::OperatorHandle& op) {
    if (is_view(op)) return false;
    return op.hasKernelForDispatchKey(DispatchKey::PrivateUse1) ||
           (!is_implicit(op) && op.hasComputedKernelForDispatchKey(DispatchKey::PrivateUse1));
  });
}

std::vector<std::string> decomposable_operators() {
  return overloads_where([](const c10::OperatorHandle& op) {
    return op.hasKernelForDispatchKey(DispatchKey::PrivateUse1) && decomposition_key(op);
  });
}

}  // namespace dl::core
