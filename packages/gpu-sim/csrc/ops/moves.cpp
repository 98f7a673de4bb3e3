// mov with packing and unpacking, cvta, and queries about addresses.

#include <chrono>

#include "../run/launch.h"
#include "table.h"

namespace sim {
namespace {

template <class T>
struct Copy {
  static T run(T a) { return a; }
};

void move_predicate(Warp& warp, const Instruction& i, uint32_t mask) {
  const uint32_t bits = *at<uint32_t>(warp, i.a);
  uint32_t* d = at<uint32_t>(warp, i.d);
  *d = (*d & ~mask) | (bits & mask);
}

/** Clock that counts instructions: it only increases. */
template <class T>
void read_clock(Warp& warp, const Instruction& i, uint32_t mask) {
  T* d = at<T>(warp, i.d);
  const auto now = static_cast<T>(std::chrono::steady_clock::now().time_since_epoch().count());
  each_lane(mask, [=](int lane) { d[lane] = now; });
}

void pack(Warp& warp, const Instruction& i, uint32_t mask) {
  const Extra& parts = warp.code().extras[static_cast<size_t>(i.extra)];
  uint8_t* d = at<uint8_t>(warp, i.d);
  each_lane(mask, [&](int lane) {
    uint64_t value = 0;
    for (size_t part = 0; part < parts.places.size(); ++part)
      __builtin_memcpy(reinterpret_cast<uint8_t*>(&value) + part * i.bytes,
                       at<uint8_t>(warp, parts.places[part]) + i.bytes * lane, i.bytes);
    __builtin_memcpy(d + i.d_bytes * lane, &value, i.d_bytes);
  });
}

void unpack(Warp& warp, const Instruction& i, uint32_t mask) {
  const Extra& parts = warp.code().extras[static_cast<size_t>(i.extra)];
  const uint8_t* a = at<uint8_t>(warp, i.a);
  each_lane(mask, [&](int lane) {
    uint64_t value = 0;
    __builtin_memcpy(&value, a + i.a_bytes * lane, i.a_bytes);
    for (size_t part = 0; part < parts.places.size(); ++part)
      __builtin_memcpy(at<uint8_t>(warp, parts.places[part]) + i.bytes * lane,
                       reinterpret_cast<const uint8_t*>(&value) + part * i.bytes, i.bytes);
  });
}

void packed_move(Decoder& decoder, Type type) {
  const bool packs = decoder.operand(1).form == Operand::Form::kVector;
  const Operand& vector = decoder.operand(packs ? 1 : 0);
  const size_t count = vector.parts.size();
  if (count == 0 || type.bytes % count != 0 || type.bytes / count < 2 || type.bytes > 8)
    decoder.refuse("the parts and the whole differ in size");
  const Type part{Kind::kBits, static_cast<uint8_t>(type.bytes / count)};
  const Type whole{Kind::kBits, type.bytes};
  decoder.out.bytes = part.bytes;
  Extra& extra = decoder.extra();
  for (const Operand& each : vector.parts)
    extra.places.push_back(packs ? decoder.read(each, part) : decoder.write(each, part));
  if (packs) {
    decoder.out.d = decoder.write(0, whole);
    decoder.out.d_bytes = type.bytes;
    decoder.out.action = pack;
  } else {
    decoder.out.a = decoder.read(1, whole);
    decoder.out.a_bytes = type.bytes;
    decoder.out.action = unpack;
  }
}

void mov(Decoder& decoder) {
  const Type type = decoder.type();
  decoder.want_operands(2, 2);
  if (type.kind == Kind::kPredicate) {
    decoder.out.d = decoder.predicate(decoder.operand(0));
    decoder.out.a = decoder.predicate(decoder.operand(1));
    decoder.out.action = move_predicate;
    return;
  }
  const Operand& from = decoder.operand(1);
  if (from.form == Operand::Form::kVector || decoder.operand(0).form == Operand::Form::kVector)
    return packed_move(decoder, type);
  decoder.out.d = decoder.write(0, type);
  if (from.name == "%clock64" || from.name == "%globaltimer" || from.name == "%clock" ||
      from.name == "%clock_hi" || from.name == "%globaltimer_lo") {
    decoder.out.action = type.bytes == 8 ? read_clock<uint64_t> : read_clock<uint32_t>;
    return;
  }
  decoder.out.a = decoder.read(1, type);
  switch (type.bytes) {
    case 2:
      decoder.out.action = map1<uint16_t, uint16_t, Copy<uint16_t>>;
      break;
    case 4:
      decoder.out.action = map1<uint32_t, uint32_t, Copy<uint32_t>>;
      break;
    case 8:
      decoder.out.action = map1<uint64_t, uint64_t, Copy<uint64_t>>;
      break;
    default:
      decoder.refuse("unsupported type");
  }
}

int take_space(Decoder& decoder) {
  return decoder.take_one_of({"global", "shared", "shared::cta", "local", "const", "param"});
}
uint64_t window_of(int space) {
  switch (space) {
    case 1:
    case 2:
      return kSharedWindow;
    case 3:
      return kLocalWindow;
    case 5:
      return kParamWindow;
    default:
      return 0;
  }
}

template <class T>
void add_window(Warp& warp, const Instruction& i, uint32_t mask) {
  T* d = at<T>(warp, i.d);
  const T* a = at<T>(warp, i.a);
  each_lane(mask, [=](int lane) { d[lane] = a[lane] + static_cast<T>(i.plus); });
}

void cvta(Decoder& decoder) {
  const bool to = decoder.take("to");
  const int space = take_space(decoder);
  if (space < 0) decoder.refuse("it needs a state space");
  const Type type = decoder.type();
  if (type.bytes != 8) decoder.refuse("addresses have 64 bits");
  operands1(decoder, type);
  const auto window = static_cast<int64_t>(window_of(space));
  decoder.out.plus = to ? -window : window;
  decoder.out.action = add_window<uint64_t>;
}

void isspacep(Decoder& decoder) {
  const int space = take_space(decoder);
  if (space < 0) decoder.refuse("it needs a state space");
  decoder.want_operands(2, 2);
  decoder.out.d = decoder.write(0, kPred);
  decoder.out.a = decoder.read(1, kU64);
  decoder.out.choice = static_cast<uint8_t>(space);
  decoder.out.action = [](Warp& warp, const Instruction& i, uint32_t mask) {
    const uint64_t* a = at<uint64_t>(warp, i.a);
    uint32_t bits = 0;
    each_lane(mask, [&](int lane) {
      const auto in = [&](uint64_t window) { return a[lane] - window < uint64_t{1} << 32; };
      bool answer = false;
      switch (i.choice) {
        case 0:
          answer = !in(kSharedWindow) && !in(kLocalWindow) && !in(kParamWindow);
          break;
        case 4: {
          const Region* region = warp.launch.memory().find(a[lane], 1);
          answer = region != nullptr && region->what == Region::What::kConstant;
          break;
        }
        default:
          answer = in(window_of(i.choice));
      }
      bits |= uint32_t{answer} << lane;
    });
    uint32_t* d = at<uint32_t>(warp, i.d);
    *d = (*d & ~mask) | bits;
  };
}

void nothing(Warp&, const Instruction&, uint32_t) {}

}  // namespace

void add_moves(Opcodes& table) {
  table["mov"] = mov;
  table["cvta"] = cvta;
  table["isspacep"] = isspacep;
  table["nanosleep"] = [](Decoder& decoder) {
    decoder.take("u32");
    decoder.out.action = nothing;
  };
  // Hints to the hardware.
  for (const char* hint :
       {"prefetch", "prefetchu", "discard", "applypriority", "setmaxnreg", "pmevent"})
    table[hint] = [](Decoder& decoder) {
      while (decoder.more()) decoder.next_word();
      decoder.out.action = nothing;
    };
}

}  // namespace sim
