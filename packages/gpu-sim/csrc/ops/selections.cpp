// Selection of one of two values: selp and slct.

#include <utility>

#include "rounding.h"
#include "table.h"

namespace sim {
namespace {

template <class T>
void run_selp(Warp& warp, const Instruction& i, uint32_t mask) {
  T* d = at<T>(warp, i.d);
  const T *a = at<T>(warp, i.a), *b = at<T>(warp, i.b);
  const uint32_t bits = *at<uint32_t>(warp, i.c);
  each_lane(mask, [=](int lane) { d[lane] = (bits >> lane & 1) != 0 ? a[lane] : b[lane]; });
}

void selp(Decoder& decoder) {
  const Type type = decoder.type();
  decoder.want_operands(4, 4);
  decoder.out.d = decoder.write(0, type);
  decoder.out.a = decoder.read(1, type);
  decoder.out.b = decoder.read(2, type);
  decoder.out.c = decoder.predicate(decoder.operand(3));
  // `!p` swaps the two values.
  if (decoder.operand(3).negated) std::swap(decoder.out.a, decoder.out.b);
  switch (type.bytes) {
    case 2:
      decoder.out.action = run_selp<uint16_t>;
      break;
    case 4:
      decoder.out.action = run_selp<uint32_t>;
      break;
    case 8:
      decoder.out.action = run_selp<uint64_t>;
      break;
    default:
      decoder.refuse("unsupported type");
  }
}

template <class T, class C, bool F>
void run_slct(Warp& warp, const Instruction& i, uint32_t mask) {
  T* d = at<T>(warp, i.d);
  const T *a = at<T>(warp, i.a), *b = at<T>(warp, i.b);
  const C* c = at<C>(warp, i.c);
  each_lane(mask, [=](int lane) {
    C value = c[lane];
    if constexpr (F) value = flushed(value);
    d[lane] = value >= 0 ? a[lane] : b[lane];
  });
}

void slct(Decoder& decoder) {
  const bool flush = decoder.take("ftz");
  const Type type = decoder.type();
  const Type by = decoder.type();
  decoder.want_operands(4, 4);
  decoder.out.d = decoder.write(0, type);
  decoder.out.a = decoder.read(1, type);
  decoder.out.b = decoder.read(2, type);
  decoder.out.c = decoder.read(3, by);
  if (by.bytes != 4) decoder.refuse("unsupported type");
  const bool whole = by.is_integer();
  switch (type.bytes) {
    case 2:
      decoder.out.action = whole   ? run_slct<uint16_t, int32_t, false>
                           : flush ? run_slct<uint16_t, float, true>
                                   : run_slct<uint16_t, float, false>;
      break;
    case 4:
      decoder.out.action = whole   ? run_slct<uint32_t, int32_t, false>
                           : flush ? run_slct<uint32_t, float, true>
                                   : run_slct<uint32_t, float, false>;
      break;
    case 8:
      decoder.out.action = whole   ? run_slct<uint64_t, int32_t, false>
                           : flush ? run_slct<uint64_t, float, true>
                                   : run_slct<uint64_t, float, false>;
      break;
    default:
      decoder.refuse("unsupported type");
  }
}

}  // namespace

void add_selections(Opcodes& table) {
  table["selp"] = selp;
  table["slct"] = slct;
}

}  // namespace sim
