// mma.sync and ldmatrix: matrix products with fragments that are distributed over a warp.

#include <algorithm>
#include <cmath>

#include "../run/collectives.h"
#include "half.h"
#include "memory_operand.h"
#include "table.h"

namespace sim {
namespace {

enum Element : uint8_t { kHalf, kBrain, kTensor, kDouble, kSigned8, kUnsigned8 };

struct Shape {
  int m, n, k;
};

/** Parameters of a product, packed into Instruction::plus. */
struct Product {
  Shape shape;
  Element a, b;
  bool half_sum;   // c and d are f16
  bool whole_sum;  // they are s32
  bool saturate;
  int a_registers, b_registers, c_registers;
};

Product product_of(const Instruction& i) {
  const auto bits = static_cast<uint64_t>(i.plus);
  const auto field = [&](int at) { return static_cast<int>(bits >> at & 0xff); };
  Product made{};
  made.shape = {field(0), field(8), field(16)};
  made.a = static_cast<Element>(field(24) & 15);
  made.b = static_cast<Element>(field(24) >> 4);
  made.half_sum = (field(32) & 1) != 0;
  made.whole_sum = (field(32) & 2) != 0;
  made.saturate = (field(32) & 4) != 0;
  made.a_registers = field(40);
  made.b_registers = field(48);
  made.c_registers = field(56);
  return made;
}

int bits_of(Element element) {
  switch (element) {
    case kDouble:
      return 64;
    case kTensor:
      return 32;
    case kSigned8:
    case kUnsigned8:
      return 8;
    default:
      return 16;
  }
}

double element(Element kind, uint64_t bits) {
  switch (kind) {
    case kHalf:
      return Half::widen(static_cast<uint32_t>(bits & 0xffff));
    case kBrain:
      return Brain::widen(static_cast<uint32_t>(bits & 0xffff));
    // tf32 ignores the last 13 bits.
    case kTensor:
      return static_cast<double>(bits_as<float>(static_cast<uint32_t>(bits) & ~0x1fffu));
    case kDouble:
      return bits_as<double>(bits);
    case kSigned8:
      return static_cast<int8_t>(bits);
    default:
      return static_cast<uint8_t>(bits);
  }
}

/** Read the values of a lane's registers in order. */
void registers(Warp& warp, const std::vector<uint32_t>& places, size_t first, int count, int bytes,
               int lane, uint64_t* into) {
  for (int i = 0; i < count; ++i) {
    into[i] = 0;
    __builtin_memcpy(&into[i],
                     at<uint8_t>(warp, places[first + static_cast<size_t>(i)]) + bytes * lane,
                     static_cast<size_t>(bytes));
  }
}

/**
 * Fragment layout of A: a register packs consecutive columns, four adjacent lanes cover a row, and
 * lane / 4 is the row. Registers continue first 8 rows below, then to the right.
 */
void place_of_a(int row, int column, int per_register, int& lane, int& reg, int& part) {
  const int pack = column / per_register;
  lane = row % 8 * 4 + pack % 4;
  reg = row / 8 + 2 * (pack / 4);
  part = column % per_register;
}
void place_of_b(int row, int column, int per_register, int& lane, int& reg, int& part) {
  const int pack = row / per_register;
  lane = column * 4 + pack % 4;
  reg = pack / 4;
  part = row % per_register;
}
/** Fragment layout of the accumulator: two columns per lane, lane / 4 is the row, then 8 below. */
void place_of_c(int row, int column, int& lane, int& index) {
  lane = row % 8 * 4 + column / 2;
  index = row / 8 * 2 + column % 2;
}

void multiply(Warp& warp, const std::vector<Arrival>& arrivals, uint32_t came) {
  const Instruction& i = *arrivals[0].instruction;
  if (came != kEveryLane || arrivals.size() != 1) {
    warp.launch.report_lanes(Fault::kInvalid, warp, came, i, 0, [] {
      return std::string("all 32 lanes of the warp must execute the same mma");
    });
    warp.launch.fail(Outcome::kIllegalInstruction, true);
    return;
  }
  warp.use(*arrivals[0].group);
  const Product p = product_of(i);
  const auto& places = warp.code().extras[static_cast<size_t>(i.extra)].places;
  const auto [m, n, k] = p.shape;
  const bool wide = p.a == kDouble;
  const int bytes = wide ? 8 : 4;
  const int per_a = wide ? 1 : 32 / bits_of(p.a), per_b = wide ? 1 : 32 / bits_of(p.b);
  double a[16][32], b[32][8];
  uint64_t values[kLanes][8];
  const size_t first_a = static_cast<size_t>(p.c_registers);
  const size_t first_b = first_a + static_cast<size_t>(p.a_registers);
  const size_t first_c = first_b + static_cast<size_t>(p.b_registers);
  int lane, reg, part;
  for (int each = 0; each < kLanes; ++each)
    registers(warp, places, first_a, p.a_registers, bytes, each, values[each]);
  for (int row = 0; row < m; ++row)
    for (int column = 0; column < k; ++column) {
      place_of_a(row, column, per_a, lane, reg, part);
      // A shape with 8 rows has one register for each pack of columns.
      if (m == 8) reg = reg / 2;
      a[row][column] = element(p.a, values[lane][reg] >> bits_of(p.a) % 64 * part);
    }
  for (int each = 0; each < kLanes; ++each)
    registers(warp, places, first_b, p.b_registers, bytes, each, values[each]);
  for (int row = 0; row < k; ++row)
    for (int column = 0; column < n; ++column) {
      place_of_b(row, column, per_b, lane, reg, part);
      b[row][column] = element(p.b, values[lane][reg] >> bits_of(p.b) % 64 * part);
    }
  for (int each = 0; each < kLanes; ++each)
    registers(warp, places, first_c, p.c_registers, bytes, each, values[each]);
  uint64_t results[kLanes][8] = {};
  for (int row = 0; row < m; ++row)
    for (int column = 0; column < n; ++column) {
      place_of_c(row, column, lane, part);
      const uint64_t bits =
          p.half_sum ? values[lane][part / 2] >> 16 * (part % 2) & 0xffff : values[lane][part];
      double sum = p.half_sum    ? Half::widen(static_cast<uint32_t>(bits))
                   : p.whole_sum ? static_cast<double>(static_cast<int32_t>(bits))
                   : wide        ? bits_as<double>(bits)
                                 : static_cast<double>(bits_as<float>(static_cast<uint32_t>(bits)));
      // As on a GPU, products are exact, and are accumulated in a wider precision.
      for (int inner = 0; inner < k; ++inner)
        sum = wide ? std::fma(a[row][inner], b[inner][column], sum)
                   : sum + a[row][inner] * b[inner][column];
      uint64_t made;
      if (p.half_sum) {
        made = uint64_t{Half::narrow(sum)} << 16 * (part % 2);
        results[lane][part / 2] |= made;
        continue;
      }
      if (p.whole_sum) {
        const auto exact = static_cast<int64_t>(sum);
        made = static_cast<uint32_t>(
            p.saturate ? std::min<int64_t>(std::max<int64_t>(exact, INT32_MIN), INT32_MAX) : exact);
      } else if (wide) {
        made = bits_as<uint64_t>(sum);
      } else {
        made = bits_as<uint32_t>(sum != sum ? bits_as<float>(uint32_t{0x7fffffff})
                                            : static_cast<float>(sum));
      }
      results[lane][part] = made;
    }
  for (int each = 0; each < kLanes; ++each)
    for (int r = 0; r < p.c_registers; ++r)
      __builtin_memcpy(at<uint8_t>(warp, places[static_cast<size_t>(r)]) + bytes * each,
                       &results[each][r], static_cast<size_t>(bytes));
}

Element element_of(Decoder& decoder, Type type) {
  if (type.kind == Kind::kBrain && type.lanes == 1) return kBrain;
  if (type.kind == Kind::kTensorFloat) return kTensor;
  if (type.kind == Kind::kFloat && type.lanes == 1 && type.bytes == 2) return kHalf;
  if (type.kind == Kind::kFloat && type.bytes == 8) return kDouble;
  if (type.kind == Kind::kSigned && type.bytes == 1) return kSigned8;
  if (type.kind == Kind::kUnsigned && type.bytes == 1) return kUnsigned8;
  decoder.refuse("unsupported type");
}

void mma(Decoder& decoder) {
  if (!decoder.take("sync") || !decoder.take("aligned")) decoder.refuse("it needs .sync.aligned");
  const std::string shape(decoder.next_word());
  if (!decoder.take("row") || !decoder.take("col")) decoder.refuse("it needs .row.col");
  const bool saturate = decoder.take("satfinite");
  const Type d = decoder.type(), a = decoder.type(), b = decoder.type(), c = decoder.type();
  if (!(d == c)) decoder.refuse("the types of d and c differ");
  const Element ea = element_of(decoder, a), eb = element_of(decoder, b);
  static const std::map<std::string, std::pair<Shape, int>> kShapes = {
      // Shapes, with the number of bits of an element.
      {"m16n8k8", {{16, 8, 8}, 16}},  {"m16n8k16", {{16, 8, 16}, 16}},
      {"m16n8k32", {{16, 8, 32}, 8}}, {"m16n8k4", {{16, 8, 4}, 32}},
      {"m8n8k4", {{8, 8, 4}, 64}},    {"m8n8k16", {{8, 8, 16}, 8}}};
  auto found = kShapes.find(shape);
  if (found == kShapes.end()) decoder.refuse("shape '" + shape + "' is not supported");
  const Shape s = found->second.first;
  const int bits = bits_of(ea);
  const bool fits = bits == found->second.second || (shape == "m16n8k8" && bits == 32) ||
                    (shape == "m16n8k16" && bits == 8);
  if (!fits || bits_of(eb) != bits)
    decoder.refuse("shape '" + shape + "' is not supported for its types");
  const bool whole = bits == 8, half = d.bytes == 2, wide = bits == 64;
  if (whole != d.is_integer() || (half && ea != kHalf) || wide != (d.bytes == 8))
    decoder.refuse("unsupported accumulator type");
  const int register_bits = wide ? 64 : 32;
  const int na = s.m * s.k * bits / register_bits / kLanes,
            nb = s.k * s.n * bits / register_bits / kLanes;
  const int nc = s.m * s.n * (half ? 16 : wide ? 64 : 32) / register_bits / kLanes;
  decoder.want_operands(4, 4);
  const Type register_type{wide ? Kind::kFloat : Kind::kBits, static_cast<uint8_t>(wide ? 8 : 4)};
  const int counts[] = {nc, na, nb, nc};
  for (size_t each = 0; each < 4; ++each) {
    const Operand& operand = decoder.operand(each);
    const bool vector = operand.form == Operand::Form::kVector;
    if ((vector ? operand.parts.size() : 1) != static_cast<size_t>(counts[each]))
      decoder.refuse("the number of registers does not match the shape");
    for (int r = 0; r < counts[each]; ++r) {
      const Operand& one = vector ? operand.parts[static_cast<size_t>(r)] : operand;
      decoder.extra().places.push_back(each == 0 ? decoder.write(one, register_type)
                                                 : decoder.read(one, register_type));
    }
  }
  Instruction& out = decoder.out;
  const uint64_t packed = static_cast<uint64_t>(s.m) | static_cast<uint64_t>(s.n) << 8 |
                          static_cast<uint64_t>(s.k) << 16 | uint64_t{ea} << 24 |
                          uint64_t{eb} << 28 | uint64_t{half} << 32 | uint64_t{whole} << 33 |
                          uint64_t{saturate} << 34 | static_cast<uint64_t>(na) << 40 |
                          static_cast<uint64_t>(nb) << 48 | static_cast<uint64_t>(nc) << 56;
  out.plus = static_cast<int64_t>(packed);
  out.flow = Flow::kCollective;
  out.e = decoder.constant(kEveryLane, 4);
  out.together = multiply;
}

/** ldmatrix: rows of 8 16-bit elements, at the addresses of lanes 0 to 7, then 8 to 15, … */
void load_matrices(Warp& warp, const std::vector<Arrival>& arrivals, uint32_t) {
  warp.use(*arrivals[0].group);
  const Instruction& i = *arrivals[0].instruction;
  const auto& places = warp.code().extras[static_cast<size_t>(i.extra)].places;
  for (uint32_t matrix = 0; matrix < i.count; ++matrix) {
    uint8_t rows[8][16] = {};
    for (uint32_t row = 0; row < 8; ++row) {
      const uint32_t lane = matrix * 8 + row;
      const uint8_t* from = reach(warp, i, lane, i.space,
                                  address_of(warp, i, static_cast<int>(lane)), 16, Purpose::kRead);
      if (from != nullptr) __builtin_memcpy(rows[row], from, 16);
    }
    uint32_t* d = at<uint32_t>(warp, places[matrix]);
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      uint16_t parts[2];
      for (uint32_t part = 0; part < 2; ++part) {
        const uint32_t row = i.choice != 0 ? lane % 4 * 2 + part : lane / 4;
        const uint32_t column = i.choice != 0 ? lane / 4 : lane % 4 * 2 + part;
        __builtin_memcpy(&parts[part], &rows[row][2 * column], 2);
      }
      d[lane] = parts[0] | uint32_t{parts[1]} << 16;
    }
  }
}

void ldmatrix(Decoder& decoder) {
  if (!decoder.take("sync") || !decoder.take("aligned") || !decoder.take("m8n8"))
    decoder.refuse("unsupported form");
  const int count = decoder.take_one_of({"x1", "x2", "x4"});
  if (count < 0) decoder.refuse("it needs .x1, .x2 or .x4");
  Instruction& out = decoder.out;
  out.choice = decoder.take("trans");
  out.space = take_space(decoder);
  if (decoder.type().bytes != 2) decoder.refuse("unsupported type");
  out.count = static_cast<uint8_t>(1 << count);
  out.bytes = 16;
  decoder.want_operands(2, 2);
  const Operand& into = decoder.operand(0);
  const bool vector = into.form == Operand::Form::kVector;
  if ((vector ? into.parts.size() : 1) != out.count)
    decoder.refuse("the numbers of registers and matrices differ");
  for (size_t each = 0; each < out.count; ++each)
    decoder.extra().places.push_back(decoder.write(vector ? into.parts[each] : into, kB32));
  decoder.address(decoder.operand(1));
  out.flow = Flow::kCollective;
  out.e = decoder.constant(kEveryLane, 4);
  out.together = load_matrices;
}

}  // namespace

void add_matrix(Opcodes& table) {
  table["mma"] = mma;
  table["ldmatrix"] = ldmatrix;
}

}  // namespace sim
