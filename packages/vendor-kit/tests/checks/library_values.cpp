#include <cmath>
#include <cstring>
#include <limits>

#include "check.h"
#include "dl/kit/library/helpers.h"
#include "dl/kit/library/host_elements.h"
#include "dl/kit/library/random_stream.h"
#include "dl/kit/library/views.h"

namespace lib = dl::kit::library;

namespace {

lib::View made(const lib::Ints& sizes, int32_t dtype = diopi_dtype_float32) {
  lib::View view;
  view.is_present = true;
  view.dtype = dtype;
  view.ndim = static_cast<int32_t>(sizes.size());
  int64_t stride = 1;
  for (int32_t d = view.ndim - 1; d >= 0; --d) {
    view.sizes[d] = sizes[static_cast<size_t>(d)];
    view.strides[d] = stride;
    stride *= view.sizes[d];
  }
  return view;
}
lib::Ints strides(const lib::View& view) {
  return lib::Ints(view.strides, view.strides + view.ndim);
}
template <class Body>
bool declines(const Body& body) {
  return thrown(body).code == DL_NOT_SUPPORTED;
}

void check_views() {
  const lib::View x = made({2, 3, 4});
  CHECK(x.is_contiguous() && x.numel() == 24);
  CHECK(lib::shape(lib::t(x)) == (lib::Ints{2, 4, 3}) &&
        strides(lib::t(x)) == (lib::Ints{12, 1, 4}));
  CHECK(!lib::t(x).is_contiguous());
  CHECK(lib::shape(lib::flat2d(x)) == (lib::Ints{6, 4}) &&
        lib::shape(lib::flat(x)) == lib::Ints{24});
  CHECK(declines([&] { lib::flat(lib::t(x)); }));
  CHECK(lib::shape(lib::moved_to_last(x, 0)) == (lib::Ints{3, 4, 2}));
  CHECK(strides(lib::moved_to_last(x, 0)) == (lib::Ints{4, 1, 12}));
  CHECK(lib::shape(lib::placed(made({5}), 1, 3)) == (lib::Ints{1, 5, 1}));
  CHECK(lib::shape(lib::flat(made({}))) == lib::Ints{1});
  CHECK(lib::shape(lib::unsqueeze(x, -2)) == (lib::Ints{2, 3, 1, 4}));
  CHECK(lib::shape(lib::squeeze(lib::unsqueeze(x, 0), 0)) == lib::shape(x));
  CHECK(declines([&] { lib::squeeze(x, 0); }));
  CHECK(lib::select(x, 1, -1).offset == 8 &&
        lib::shape(lib::select(x, 1, -1)) == (lib::Ints{2, 4}));
  CHECK(declines([&] { lib::select(x, 1, 3); }) && declines([&] { lib::select(x, 3, 0); }));
  const lib::View part = lib::slice(x, 2, 1, 100, 2);
  CHECK(part.offset == 1 && part.sizes[2] == 2 && part.strides[2] == 2);
  CHECK(lib::slice(x, 0, 5, 1, 1).numel() == 0);
  CHECK(strides(lib::expanded(made({3, 1}), x)) == (lib::Ints{0, 1, 0}));
  CHECK(declines([&] { lib::expanded(made({5}), x); }));
  CHECK(lib::shape(lib::unfolded(x, 1, 2, 1)) == (lib::Ints{2, 2, 4, 2}));
  CHECK(lib::shape(lib::reshaped(x, {4, -1})) == (lib::Ints{4, 6}));
  CHECK(declines([&] { lib::reshaped(x, {5, -1}); }) && declines([&] { lib::reshaped(x, {5}); }));
  lib::View complex = made({2, 2}, diopi_dtype_complex64);
  complex.offset = 3;
  CHECK(lib::imaginary_part(complex).offset == 7 && lib::imaginary_part(complex).strides[1] == 2);
  CHECK(lib::dtype(lib::real_part(complex)).value == diopi_dtype_float32);
  CHECK(made({0, 5}).is_contiguous());
  CHECK(lib::views_of<diopiTensorHandle_t>(nullptr, 2).empty());
}

void check_helpers() {
  const lib::View x = made({2, 3});
  CHECK(lib::pair({7}) == (lib::Ints{7, 7}) && lib::pair({1, 2}) == (lib::Ints{1, 2}));
  CHECK(declines([] { lib::pair({1, 2, 3}); }) && declines([] { lib::triple({1, 2}); }));
  CHECK(lib::dims({}, x) == (lib::Ints{0, 1}) && lib::dims({1}, x) == lib::Ints{1});
  const lib::Views flat = lib::flat_all({x, made({})});
  CHECK(lib::shape(flat[0]) == lib::Ints{lib::numel(x)} && lib::shape(flat[1]) == lib::Ints{1});
  CHECK(lib::keepdim(x, made({2, 1})) && !lib::keepdim(x, made({2})));
  CHECK(lib::mask(x, lib::View{}).values == (std::vector<char>{1, 0}));
  CHECK(lib::floor_divide(-7, 2) == -4 && lib::floor_divide(7, 2) == 3);
  CHECK(declines([] { lib::floor_divide(1, 0); }));
  CHECK(lib::equal("tanh", "tanh") && !lib::equal("tanh", nullptr) &&
        lib::equal(lib::Ints{1}, {1}));
  CHECK(lib::scalar_like(1.5, made({}, diopi_dtype_int32)).value.ival == 1);
  CHECK(lib::scalar_like(1.5, made({}, diopi_dtype_float16)).value.fval == 1.5);
  CHECK(lib::integer(lib::scalar_of(2.0)) == 2 && lib::integer(lib::Scalar{}) == 0);
  CHECK(declines([] { lib::integer(lib::scalar_of(1.25)); }));
  CHECK(declines([] { lib::at(lib::Ints{1}, 1); }));
}

void check_elements() {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float half = lib::half_value(static_cast<uint16_t>(bits));
    if (!std::isnan(half)) CHECK(lib::half_bits(half) == bits);
    const float brain = lib::bfloat16_value(static_cast<uint16_t>(bits));
    if (!std::isnan(brain)) CHECK(lib::bfloat16_bits(brain) == bits);
  }
  CHECK(lib::half_bits(65520.0F) == 0x7C00 && lib::half_bits(65519.0F) == 0x7BFF);
  CHECK(lib::half_bits(1.0F + 0x1p-11F) == 0x3C00 && lib::half_bits(1.0F + 0x3p-11F) == 0x3C02);
  CHECK(std::isnan(lib::half_value(lib::half_bits(NAN))));
  CHECK(std::isnan(lib::bfloat16_value(lib::bfloat16_bits(NAN))));
}

// Vectors of Random123, the authors' library (kat_vectors, philox4x32 with 10 rounds).
void check_random() {
  const lib::PhiloxWords zeros(0, 0, 0);
  CHECK(zeros.word[0] == 0x6627e8d5u && zeros.word[1] == 0xe169c58du);
  CHECK(zeros.word[2] == 0xbc57ac4cu && zeros.word[3] == 0x9b00dbd8u);
  const lib::PhiloxWords ones(~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0});
  CHECK(ones.word[0] == 0x408f276du && ones.word[1] == 0x41c83b0eu);
  CHECK(ones.word[2] == 0xa20bc7c6u && ones.word[3] == 0x6d5451fdu);

  dl_generator_prefix_t generator{};
  generator.magic = DL_GENERATOR_MAGIC;
  generator.offset = 3;
  const auto handle = reinterpret_cast<diopiGeneratorHandle_t>(&generator);
  const lib::RandomStream stream(handle, 5, 1);
  CHECK(generator.offset == 5);
  const lib::PhiloxWords fourth(0, 4, 0);
  CHECK(stream.word(4) == fourth.word[0] && stream.word(7) == fourth.word[3]);
  const lib::RandomStream wide(handle, 5, 2);
  CHECK(generator.offset == 8 && wide.long_word(0) != wide.long_word(1));
  const uint64_t largest = uint64_t{1} << 24;
  CHECK(lib::is_short_range(largest) && !lib::is_short_range(largest + 1));
  CHECK(!lib::is_short_range(0));  // 2^64
  int kept = 0;
  for (int64_t i = 0; i < 4000; ++i) {
    CHECK(stream.below(i, 10) < 10);
    kept += stream.trial(i, 0.25) ? 1 : 0;
    CHECK(stream.trial(i, 1.0) && !stream.trial(i, 0.0));
  }
  CHECK(kept > 900 && kept < 1100);
  CHECK(thrown([] { lib::RandomStream(nullptr, 1, 1); }).code == DL_INVALID_ARGUMENT);
}

}  // namespace

MAIN {
  check_views();
  check_helpers();
  check_elements();
  check_random();
}
