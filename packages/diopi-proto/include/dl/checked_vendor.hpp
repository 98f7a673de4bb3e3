// Wrapper of a library's instance; part of dl/checked.hpp.
#ifndef DL_CHECKED_VENDOR_HPP_
#define DL_CHECKED_VENDOR_HPP_

#include <tuple>

#include "dl/checked_names.hpp"
#include "dl/checked_status.hpp"

namespace dl::checked {

#pragma GCC visibility push(hidden)

// Type number and name of each known extension struct.
template <class T>
struct ExtensionType;
#define DL_CHECKED_EXTENSION(struct_type, number, word) \
  template <>                                           \
  struct ExtensionType<struct_type> {                   \
    static constexpr uint64_t kType = number;           \
    static constexpr const char* kName = word;          \
  }
DL_CHECKED_EXTENSION(dl_communicator_extension_t, DL_EXT_COMMUNICATOR, "communicator");
DL_CHECKED_EXTENSION(dl_kernel_extension_t, DL_EXT_KERNEL, "kernel");
DL_CHECKED_EXTENSION(dl_graph_extension_t, DL_EXT_GRAPH, "graph");
DL_CHECKED_EXTENSION(dl_profiler_extension_t, DL_EXT_PROFILER, "profiler");
DL_CHECKED_EXTENSION(dl_peer_extension_t, DL_EXT_PEER, "peer");
DL_CHECKED_EXTENSION(dl_choices_extension_t, DL_EXT_CHOICES, "choices");
DL_CHECKED_EXTENSION(dl_constants_extension_t, DL_EXT_CONSTANTS, "constants");
#undef DL_CHECKED_EXTENSION

using Extensions = std::tuple<dl_communicator_extension_t, dl_kernel_extension_t,
                              dl_graph_extension_t, dl_profiler_extension_t, dl_peer_extension_t,
                              dl_choices_extension_t, dl_constants_extension_t>;

// Calls `body` with each extension of the tuple.
template <class All, typename Body>
void each_extension(All& all, Body&& body) {
  std::apply([&](auto&... one) { (body(one), ...); }, all);
}

// Copies the fields that the writer of `from` compiled. Every field is as large as a pointer.
template <class T>
void copy_reached(T& to, const void* from, uint64_t struct_size) {
  const size_t reached = std::min<size_t>(struct_size, sizeof to);
  std::memcpy(static_cast<void*>(&to), from, reached / sizeof(void*) * sizeof(void*));
}

class Vendor : public dl_vendor {
 public:
  // Precondition: why_broken(inner) is empty.
  explicit Vendor(dl_vendor_t* inner) : inner_(inner) {
    copy_reached(theirs_, inner->table, inner->table->struct_size);
    name_ = foreign::read_text(theirs_.name, 128);
    version_ = foreign::read_text(theirs_.version, 128);
    fill();
    chain();
    table = &ours_;
  }

  static Vendor& of(dl_vendor_t* vendor) { return *static_cast<Vendor*>(vendor); }

  const dl_vendor_table_t& theirs() const { return theirs_; }
  // The library's table or extension; all zero if the library does not have it.
  template <class T>
  const T& theirs() const {
    if constexpr (std::is_same_v<T, dl_vendor_table_t>) {
      return theirs_;
    } else {
      return std::get<T>(their_extensions_);
    }
  }
  const Extensions& their_extensions() const { return their_extensions_; }
  dl_vendor_t* inner() const { return inner_; }

 private:
  void fill();
  void chain();

  dl_vendor_t* inner_;
  dl_vendor_table_t theirs_{};
  dl_vendor_table_t ours_{};
  Extensions their_extensions_{};
  Extensions our_extensions_{};
  std::string name_;
  std::string version_;
};

inline std::string at(const void* pointer) {
  return format(" at %p, which is not memory of this process", pointer);
}

// As `at`, for an address that should be code.
inline std::string not_code(const void* pointer) {
  if (!foreign::readable(pointer, 1)) return at(pointer);
  return format(" at %p, which is not code", pointer);
}

// Describes the first slot that is neither NULL nor code; empty if all slots are valid.
template <class T>
std::string why_slots_broken(const T& slots) {
  using Names = SlotNames<T>;
  const auto* bytes = reinterpret_cast<const char*>(&slots) + Names::kFirst;
  for (size_t i = 0; i < Names::kCount; ++i) {
    const void* slot;
    std::memcpy(&slot, bytes + i * sizeof slot, sizeof slot);
    if (slot != nullptr && !foreign::executable(slot))
      return std::string(Names::kNames[i]) + " is" + not_code(slot);
  }
  return {};
}

// As why_broken, for one extension of the chain, whose struct_size bytes are readable.
inline std::string why_link_broken(const dl_extension_t* link, Extensions& seen) {
  std::string why;
  each_extension(seen, [&](auto& known) {
    using Type = ExtensionType<std::decay_t<decltype(known)>>;
    if (link->type != Type::kType) return;
    if (known.type != 0) why = std::string("returns two ") + Type::kName + " extensions";
    copy_reached(known, link, link->struct_size);
    const std::string broken = why_slots_broken(known);
    if (!broken.empty())
      why = std::string("returns a ") + Type::kName + " extension whose " + broken;
  });
  return why;
}

// Returns true if the successor of `link` is `link` or one of the links before it: a cycle.
inline bool closes_cycle(const dl_extension_t* first, const dl_extension_t* link) {
  for (const dl_extension_t* before = first; before != link; before = before->next) {
    if (before == link->next) return true;
  }
  return link->next == link;
}

inline std::string why_chain_broken(const dl_extension_t* first) {
  Extensions seen{};
  int links = 0;
  for (const dl_extension_t* link = first; link != nullptr; link = link->next) {
    if (!foreign::readable(link, sizeof *link)) return "returns an extension" + at(link);
    if (link->struct_size < sizeof *link || link->struct_size > kLongestStruct ||
        !foreign::readable(link, link->struct_size))
      return format("returns an extension of %" PRIu64 " bytes, of type %" PRIu64
                    "; an extension has %zu readable bytes or more",
                    link->struct_size, link->type, sizeof *link);
    if (++links > kLongestChain || closes_cycle(first, link))
      return "returns an endless chain of extensions";
    std::string why = why_link_broken(link, seen);
    if (!why.empty()) return why;
  }
  return {};
}

// Describes how an instance violates the interface, as the predicate of a sentence; empty if it
// does not.
inline std::string why_broken(const dl_vendor_t* instance) {
  if (instance == nullptr) return "reports success but returns no instance";
  if (!foreign::readable(instance, sizeof *instance)) return "returns an instance" + at(instance);
  const dl_vendor_table_t* table = instance->table;
  if (table == nullptr) return "returns an instance without a table";
  if (!foreign::readable(table, sizeof table->struct_size)) return "returns a table" + at(table);
  const uint64_t size = table->struct_size;
  if (!DL_CHECKED_REACHES(size, dl_vendor_table_t, destroy))
    return format("returns a table of %" PRIu64 " bytes, too short for its first fields", size);
  if (size > kLongestStruct || !foreign::readable(table, size))
    return format("returns a table of %" PRIu64 " bytes, which is more than is mapped", size);
  if (table->name == nullptr || table->destroy == nullptr)
    return "returns a table without name or destroy";
  if (foreign::text_length(table->name) < 0) return "returns a table whose name is not text";
  if (table->version != nullptr && foreign::text_length(table->version) < 0)
    return "returns a table whose version is not text";
  const std::string chain = why_chain_broken(table->extensions);
  if (!chain.empty()) return chain;
  dl_vendor_table_t known{};
  copy_reached(known, table, size);
  const std::string broken = why_slots_broken(known);
  if (!broken.empty()) return "returns a table whose " + broken;
  return {};
}

#pragma GCC visibility pop

}  // namespace dl::checked

#endif  // DL_CHECKED_VENDOR_HPP_
