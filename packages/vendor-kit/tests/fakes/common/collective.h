// Collectives of the fake libraries, on the data of all ranks in host memory.
#ifndef DL_FAKES_COLLECTIVE_H_
#define DL_FAKES_COLLECTIVE_H_

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "exchange.h"
#include "half.h"

#pragma GCC visibility push(hidden)

namespace fake_collectives {

enum class Element {
  kInt8,
  kUint8,
  kInt16,
  kInt32,
  kUint32,
  kInt64,
  kUint64,
  kHalf,
  kBfloat16,
  kFloat32,
  kFloat64,
  kOther
};

// Numbers of the reductions in NCCL and HCCL, of which the latter has no average.
enum : int { kSum = 0, kProduct = 1, kMaximum = 2, kMinimum = 3, kAverage = 4 };

template <class T, class Wide, class Load, class Store>
std::string combined(const std::vector<std::string>& parts, int operation, Load load, Store store) {
  std::string result(parts[0].size(), '\0');
  for (size_t i = 0; i < result.size() / sizeof(T); ++i) {
    Wide total{};
    for (size_t rank = 0; rank < parts.size(); ++rank) {
      T raw;
      std::memcpy(&raw, parts[rank].data() + i * sizeof(T), sizeof raw);
      const Wide value = load(raw);
      if (rank == 0) {
        total = value;
      } else if (operation == kSum || operation == kAverage) {
        total = static_cast<Wide>(total + value);
      } else if (operation == kProduct) {
        total = static_cast<Wide>(total * value);
      } else {
        total = (operation == kMaximum) == (value > total) ? value : total;
      }
    }
    if (operation == kAverage) total = static_cast<Wide>(total / static_cast<Wide>(parts.size()));
    const T raw = store(total);
    std::memcpy(result.data() + i * sizeof(T), &raw, sizeof raw);
  }
  return result;
}

template <class T>
std::string combined_plain(const std::vector<std::string>& parts, int operation) {
  const auto same = [](T value) { return value; };
  return combined<T, T>(parts, operation, same, same);
}

inline float bfloat16_value(uint16_t raw) {
  const uint32_t bits = uint32_t{raw} << 16;
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
inline uint16_t bfloat16_bits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

// Reduces the inputs of all ranks.
inline std::string combine(const std::vector<std::string>& parts, Element element, int operation) {
  switch (element) {
    case Element::kInt8:
      return combined_plain<int8_t>(parts, operation);
    case Element::kUint8:
      return combined_plain<uint8_t>(parts, operation);
    case Element::kInt16:
      return combined_plain<int16_t>(parts, operation);
    case Element::kInt32:
      return combined_plain<int32_t>(parts, operation);
    case Element::kUint32:
      return combined_plain<uint32_t>(parts, operation);
    case Element::kInt64:
      return combined_plain<int64_t>(parts, operation);
    case Element::kUint64:
      return combined_plain<uint64_t>(parts, operation);
    case Element::kFloat32:
      return combined_plain<float>(parts, operation);
    case Element::kFloat64:
      return combined_plain<double>(parts, operation);
    case Element::kHalf:
      return combined<uint16_t, float>(parts, operation, fakes::half_value,
                                       fakes::half_bits<float>);
    case Element::kBfloat16:
      return combined<uint16_t, float>(parts, operation, bfloat16_value, bfloat16_bits);
    default:
      fail(Fault::kMismatch, "elements of this type are not reduced");
  }
}

enum class Kind { kAllReduce, kReduce, kBroadcast, kAllGather, kReduceScatter, kAllToAll };

// One call of a collective on one rank.
struct Collective {
  Kind kind;
  uint64_t count;
  int type;  // the library's number
  Element element;
  size_t element_bytes;
  int operation, root;

  size_t bytes() const { return count * element_bytes; }
  // Bytes of the buffers: one part or a part of each rank.
  size_t sent(int ranks) const {
    return kind == Kind::kReduceScatter || kind == Kind::kAllToAll
               ? bytes() * static_cast<size_t>(ranks)
               : bytes();
  }
  size_t received(int ranks) const {
    return kind == Kind::kAllGather || kind == Kind::kAllToAll
               ? bytes() * static_cast<size_t>(ranks)
               : bytes();
  }
  bool gives(int rank) const { return kind != Kind::kBroadcast || root == rank; }
  bool takes(int rank) const { return kind != Kind::kReduce || root == rank; }

  // Publishes the rank's input, together with the arguments that must be the same on all ranks.
  void give(Exchange& exchange, const std::string& name, const std::string& input) const {
    exchange.put(name, terms() + input);
  }
  // Waits for the inputs of the other ranks and returns the output of this rank.
  std::string take(Exchange& exchange, const std::string& name) const {
    std::vector<std::string> parts;
    for (int from = 0; from < exchange.ranks; ++from) {
      const std::string data = exchange.take(name, from);
      const size_t end = data.find('\n') + 1;
      if (data.substr(0, end) != terms())
        fail(Fault::kMismatch, "rank " + std::to_string(from) +
                                   " calls with different arguments: " + data.substr(0, end - 1) +
                                   ", not " + terms());
      parts.push_back(data.substr(end));
    }
    return result_of(parts, static_cast<size_t>(exchange.rank));
  }

 private:
  std::string terms() const {
    std::string all;
    for (const int64_t each : {static_cast<int64_t>(kind), static_cast<int64_t>(count),
                               int64_t{type}, int64_t{operation}, int64_t{root}})
      all += (all.empty() ? "" : " ") + std::to_string(each);
    return all + "\n";
  }
  std::string result_of(const std::vector<std::string>& parts, size_t rank) const {
    std::string result;
    switch (kind) {
      case Kind::kBroadcast:
        return parts[static_cast<size_t>(root)];
      case Kind::kAllGather:
        for (const std::string& part : parts) result += part;
        return result;
      case Kind::kAllToAll:
        for (const std::string& part : parts) result += part.substr(rank * bytes(), bytes());
        return result;
      default:
        result = combine(parts, element, operation);
        return kind == Kind::kReduceScatter ? result.substr(rank * bytes(), bytes()) : result;
    }
  }
};

// Waits for a message, which the sender publishes with Exchange::put.
inline std::string take_message(Exchange& exchange, const std::string& name, int from,
                                size_t bytes) {
  std::string data = exchange.take(name, from);
  if (data.size() != bytes)
    fail(Fault::kMismatch, "a message of " + std::to_string(data.size()) + " bytes from rank " +
                               std::to_string(from) + " does not fit a receive of " +
                               std::to_string(bytes));
  return data;
}

}  // namespace fake_collectives

#pragma GCC visibility pop

#endif  // DL_FAKES_COLLECTIVE_H_
