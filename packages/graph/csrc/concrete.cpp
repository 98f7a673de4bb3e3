#include "concrete.h"

#include <limits>

#include "dl/dtype.h"
#include "fields.h"

namespace dl::graph {
namespace {

std::string sizes_text(const Entry& entry, const Sizes& sizes) {
  std::string out;
  for (size_t i = 0; i < sizes.size(); ++i)
    out += (i == 0 ? " (" : ", ") + entry.symbols[i].name + " = " + std::to_string(sizes[i]);
  return out.empty() ? out : out + ")";
}

int64_t positive(const Expression& expression, const Entry& entry, const Sizes& sizes,
                 const char* what) {
  const int64_t value = expression.value(sizes);
  if (value < 0)
    throw Failure(std::string(what) + " " + expression.text(entry.symbols) + " is " +
                  std::to_string(value) + sizes_text(entry, sizes) +
                  "; add a guard that excludes such sizes");
  return value;
}

ConcreteView concrete_view(const Entry& entry, const View& view, const Sizes& sizes,
                           int64_t bytes) {
  ConcreteView out;
  out.item = dl_dtype_bytes(view.dtype);
  out.offset = positive(view.offset, entry, sizes, "the offset");
  __int128 numel = 1;
  __int128 span = 1;
  for (size_t i = 0; i < view.shape.size(); ++i) {
    out.shape.push_back(positive(view.shape[i], entry, sizes, "the size"));
    out.strides.push_back(positive(view.strides[i], entry, sizes, "the stride"));
    numel *= out.shape[i];
    // No step overflows: both factors are below 2^63, and the sum is checked.
    span += static_cast<__int128>(out.shape[i] - 1) * out.strides[i];
    if (numel > std::numeric_limits<int64_t>::max() ||
        (out.shape[i] != 0 && span > std::numeric_limits<int64_t>::max()))
      throw Failure("the number of its elements overflows 64 bits" + sizes_text(entry, sizes));
  }
  out.numel = static_cast<int64_t>(numel);
  if (numel == 0) span = 0;
  const __int128 end = (static_cast<__int128>(out.offset) + span) * out.item;
  if (end > bytes)
    throw Failure("it needs " + std::to_string(static_cast<double>(end)) + " bytes of storage " +
                  std::to_string(view.storage) + ", which has " + std::to_string(bytes) +
                  sizes_text(entry, sizes));
  out.end = static_cast<int64_t>(end);
  out.begin = numel == 0 ? out.end : out.offset * out.item;
  return out;
}

}  // namespace

std::string call_text(const Entry& entry, size_t number) {
  return "entry " + entry.name + ", call " + std::to_string(number) + " (" +
         entry.calls[number].called->name + ")";
}

bool same_view(const ConcreteView& a, const ConcreteView& b) {
  return a.begin == b.begin && a.item == b.item && a.shape == b.shape && a.strides == b.strides;
}

Concrete concrete(const Entry& entry, const Sizes& sizes) {
  return within("entry " + entry.name, [&] {
    if (sizes.size() != entry.symbols.size())
      throw Failure("the number of symbols is " + std::to_string(entry.symbols.size()) + ", not " +
                    std::to_string(sizes.size()));
    for (size_t i = 0; i < sizes.size(); ++i) {
      const Symbol& symbol = entry.symbols[i];
      if (sizes[i] < symbol.min || sizes[i] > symbol.max)
        throw Failure(symbol.name + " = " + std::to_string(sizes[i]) +
                      ", but the graph was made for " + std::to_string(symbol.min) + " to " +
                      std::to_string(symbol.max));
    }
    for (const Guard& guard : entry.guards)
      if (!guard.holds(sizes))
        throw Failure("the guard " + guard.text(entry.symbols) + " does not hold" +
                      sizes_text(entry, sizes) + "; make a graph for these sizes");
    Concrete out;
    out.sizes = sizes;
    for (const Storage& storage : entry.storages)
      out.bytes.push_back(positive(storage.bytes, entry, sizes, "the number of bytes"));
    for (const View& view : entry.values)
      out.views.push_back(within("value " + view.name, [&] {
        return concrete_view(entry, view, sizes, out.bytes[view.storage]);
      }));
    for (const Port& port : entry.inputs) {
      const ConcreteView& view = out.views[port.value];
      if (view.offset != 0 || view.end != out.bytes[entry.values[port.value].storage])
        throw Failure("input " + port.name + " does not cover its storage");
    }
    return out;
  });
}

}  // namespace dl::graph
