// Loads and stores (ld, st) of one value or a vector.

#include "memory_operand.h"
#include "table.h"

namespace sim {
namespace {

/** Stores a value in a register that may be wider. */
void put(uint8_t* into, unsigned width, const uint8_t* bytes, unsigned count, bool sign) {
  if (width == count) {
    __builtin_memcpy(into, bytes, count);
    return;
  }
  uint64_t value = 0;
  __builtin_memcpy(&value, bytes, count);
  const unsigned shift = 64 - 8 * count;
  if (sign) value = static_cast<uint64_t>(static_cast<int64_t>(value << shift) >> shift);
  __builtin_memcpy(into, &value, width);
}

template <class T>
void load_one(Warp& warp, const Instruction& i, uint32_t mask) {
  T* d = at<T>(warp, i.d);
  each_lane(mask, [&](int lane) {
    const uint8_t* from = reach(warp, i, static_cast<uint32_t>(lane), i.space,
                                address_of(warp, i, lane), sizeof(T), Purpose::kRead);
    if (from == nullptr) {
      d[lane] = 0;
    } else {
      __builtin_memcpy(&d[lane], from, sizeof(T));
    }
  });
}

/** Loads a kernel parameter, which is the same for all threads. */
template <class T>
void load_parameter(Warp& warp, const Instruction& i, uint32_t mask) {
  T* d = at<T>(warp, i.d);
  T value;
  __builtin_memcpy(&value, warp.launch.params().data() + i.plus, sizeof value);
  each_lane(mask, [=](int lane) { d[lane] = value; });
}

void load_any(Warp& warp, const Instruction& i, uint32_t mask) {
  const Extra& extra = warp.code().extras[static_cast<size_t>(i.extra)];
  const uint32_t bytes = uint32_t{i.bytes} * i.count;
  static constexpr uint8_t kZeros[32] = {};
  each_lane(mask, [&](int lane) {
    const uint8_t* from = reach(warp, i, static_cast<uint32_t>(lane), i.space,
                                address_of(warp, i, lane), bytes, Purpose::kRead);
    if (from == nullptr) from = kZeros;
    for (size_t each = 0; each < i.count; ++each) {
      const unsigned width = extra.widths[each];
      put(at<uint8_t>(warp, extra.places[each]) + width * static_cast<unsigned>(lane), width,
          from + each * i.bytes, i.bytes, i.sign);
    }
  });
}

void store_any(Warp& warp, const Instruction& i, uint32_t mask) {
  const Extra& extra = warp.code().extras[static_cast<size_t>(i.extra)];
  const uint32_t bytes = uint32_t{i.bytes} * i.count;
  if (i.releases) fence(warp, mask, i.own_block);
  each_lane(mask, [&](int lane) {
    uint8_t values[32];
    for (size_t each = 0; each < i.count; ++each)
      __builtin_memcpy(
          values + each * i.bytes,
          at<uint8_t>(warp, extra.places[each]) + extra.widths[each] * static_cast<unsigned>(lane),
          i.bytes);
    uint8_t* into = reach(warp, i, static_cast<uint32_t>(lane), i.space, address_of(warp, i, lane),
                          bytes, Purpose::kWrite, values);
    if (into != nullptr) __builtin_memcpy(into, values, bytes);
  });
}

template <class T>
void store_one(Warp& warp, const Instruction& i, uint32_t mask) {
  const T* value = at<T>(warp, i.b);
  each_lane(mask, [&](int lane) {
    uint8_t* into =
        reach(warp, i, static_cast<uint32_t>(lane), i.space, address_of(warp, i, lane), sizeof(T),
              Purpose::kWrite, reinterpret_cast<const uint8_t*>(&value[lane]));
    if (into != nullptr) __builtin_memcpy(into, &value[lane], sizeof(T));
  });
}

/** Decode the modifiers of loads and stores, up to the type. */
Type take_words(Decoder& decoder) {
  // Modifiers may be in any order, as written by compilers and by hand.
  while (take_order(decoder) || take_scope(decoder) || maybe_space(decoder) ||
         skip_cache_hints(decoder)) {
  }
  const int vector = decoder.take_one_of({"v2", "v4", "v8"});
  decoder.out.count = static_cast<uint8_t>(vector < 0 ? 1 : 2 << vector);
  const Type type = decoder.type();
  if (type.kind == Kind::kPredicate || type.bytes > 8 || decoder.out.count * type.bytes > 32)
    decoder.refuse("unsupported type");
  decoder.out.bytes = type.bytes;
  decoder.out.sign = type.kind == Kind::kSigned;
  return Type{Kind::kBits, type.bytes};
}

/** Decode the registers of a value or of a vector. */
void registers(Decoder& decoder, const Operand& operand, Type type, bool write) {
  const bool vector = operand.form == Operand::Form::kVector;
  if ((vector ? operand.parts.size() : 1) != decoder.out.count)
    decoder.refuse("the numbers of registers and values differ");
  Extra& extra = decoder.extra();
  for (size_t i = 0; i < decoder.out.count; ++i) {
    const Operand& each = vector ? operand.parts[i] : operand;
    const bool sink = each.form == Operand::Form::kSink;
    extra.places.push_back(write ? decoder.write(each, type, true)
                                 : decoder.read(each, type, true));
    extra.widths.push_back(sink ? 8 : decoder.width(each, type));
  }
}

void ld(Decoder& decoder) {
  const Type type = take_words(decoder);
  decoder.want_operands(2, 3);
  registers(decoder, decoder.operand(0), type, true);
  decoder.address(decoder.operand(1));
  Instruction& out = decoder.out;
  const Extra& extra = decoder.extra();
  out.action = load_any;
  if (out.count != 1 || extra.widths[0] != type.bytes) return;
  out.d = extra.places[0];
  switch (type.bytes) {
    case 2:
      out.action = load_one<uint16_t>;
      break;
    case 4:
      out.action = load_one<uint32_t>;
      break;
    case 8:
      out.action = load_one<uint64_t>;
      break;
    default:
      break;
  }
  uint64_t offset = 0;
  if (out.space != Space::kParam || !decoder.kernel_parameter(decoder.operand(1), offset) ||
      offset % type.bytes != 0)
    return;
  out.plus = static_cast<int64_t>(offset);
  switch (type.bytes) {
    case 2:
      out.action = load_parameter<uint16_t>;
      break;
    case 4:
      out.action = load_parameter<uint32_t>;
      break;
    case 8:
      out.action = load_parameter<uint64_t>;
      break;
    default:
      break;
  }
}

void st(Decoder& decoder) {
  const Type type = take_words(decoder);
  decoder.want_operands(2, 3);
  decoder.address(decoder.operand(0));
  registers(decoder, decoder.operand(1), type, false);
  Instruction& out = decoder.out;
  const Extra& extra = decoder.extra();
  out.action = store_any;
  if (out.count != 1 || extra.widths[0] != type.bytes || out.releases) return;
  out.b = extra.places[0];
  switch (type.bytes) {
    case 2:
      out.action = store_one<uint16_t>;
      break;
    case 4:
      out.action = store_one<uint32_t>;
      break;
    case 8:
      out.action = store_one<uint64_t>;
      break;
    default:
      break;
  }
}

}  // namespace

void add_memory(Opcodes& table) {
  table["ld"] = ld;
  table["ldu"] = ld;
  table["st"] = st;
}

}  // namespace sim
