#include "safetensors.h"

#include <algorithm>
#include <cstring>

#include "dl/dtype.h"
#include "failure.h"
#include "json.h"

namespace dl::graph {
namespace {

constexpr uint64_t kLongestHeader = 100'000'000;  // limit of the reference implementation
constexpr size_t kMostValues = size_t{1} << 22;
constexpr size_t kMostDimensions = 64;

struct Name {
  const char* text;
  int32_t dtype;
};

constexpr Name kDtypes[] = {
    {"BOOL", diopi_dtype_bool},   {"U8", diopi_dtype_uint8},      {"I8", diopi_dtype_int8},
    {"U16", diopi_dtype_uint16},  {"I16", diopi_dtype_int16},     {"U32", diopi_dtype_uint32},
    {"I32", diopi_dtype_int32},   {"U64", diopi_dtype_uint64},    {"I64", diopi_dtype_int64},
    {"F16", diopi_dtype_float16}, {"BF16", diopi_dtype_bfloat16}, {"F32", diopi_dtype_float32},
    {"F64", diopi_dtype_float64}, {"C64", diopi_dtype_complex64},
};

uint64_t little_endian(const unsigned char* bytes) {
  uint64_t value = 0;
  for (int i = 7; i >= 0; --i) value = value << 8 | bytes[i];
  return value;
}

const Json& field(const Json& object, const char* name, Json::Kind kind) {
  const auto found = object.object.find(name);
  if (found == object.object.end() || !found->second.is(kind))
    throw Failure(std::string("its header has no valid \"") + name + "\"");
  return found->second;
}

FileTensor tensor(const Json& entry, const unsigned char* data, uint64_t bytes) {
  if (!entry.is(Json::Kind::kObject) || entry.object.size() != 3)
    throw Failure("its header must have dtype, shape and data_offsets");
  FileTensor out;
  const std::string& dtype = field(entry, "dtype", Json::Kind::kString).string;
  const auto* const known = std::find_if(std::begin(kDtypes), std::end(kDtypes),
                                         [&](const Name& each) { return dtype == each.text; });
  if (known == std::end(kDtypes)) throw Failure("dtype " + shown(dtype) + " is not supported");
  out.dtype = known->dtype;
  __int128 wanted = dl_dtype_bytes(out.dtype);
  const Json& shape = field(entry, "shape", Json::Kind::kArray);
  if (shape.array.size() > kMostDimensions) throw Failure("more than 64 dimensions");
  for (const Json& size : shape.array) {
    if (!size.is(Json::Kind::kInteger) || size.integer < 0) throw Failure("a size is invalid");
    out.shape.push_back(size.integer);
    wanted *= size.integer;
    if (wanted > INT64_MAX) throw Failure("a shape of more than 2^63 bytes");
  }
  const Json& offsets = field(entry, "data_offsets", Json::Kind::kArray);
  if (offsets.array.size() != 2 || !offsets.array[0].is(Json::Kind::kInteger) ||
      !offsets.array[1].is(Json::Kind::kInteger))
    throw Failure("data_offsets are not two integers");
  const int64_t begin = offsets.array[0].integer;
  const int64_t end = offsets.array[1].integer;
  if (begin < 0 || end < begin || static_cast<uint64_t>(end) > bytes)
    throw Failure("its data are outside the file: it is damaged or cut off");
  if (end - begin != wanted) throw Failure("the length of its data does not match its shape");
  out.data = data + begin;
  out.bytes = static_cast<uint64_t>(end - begin);
  return out;
}

void check_cover(const SafeTensors& file, const unsigned char* data, uint64_t bytes) {
  std::vector<const FileTensor*> order;
  for (const auto& [name, each] : file.tensors) order.push_back(&each);
  std::sort(order.begin(), order.end(), [](const FileTensor* a, const FileTensor* b) {
    return a->data != b->data ? a->data < b->data : a->bytes < b->bytes;
  });
  const unsigned char* at = data;
  for (const FileTensor* each : order) {
    if (each->data < at) throw Failure("two tensors of the file overlap");
    if (each->data > at) throw Failure("there is a gap between the tensors of the file");
    at += each->bytes;
  }
  if (at != data + bytes) throw Failure("there are bytes after the tensors of the file");
}

}  // namespace

uint64_t header_end(const unsigned char* begin, uint64_t count) {
  if (count < kHeaderBegin) throw Failure("the file is too short to be a safetensors file");
  const uint64_t header = little_endian(begin);
  if (header > kLongestHeader || header > count - kHeaderBegin)
    throw Failure("its header is longer than the file: it is damaged, cut off or not a .dlg file");
  return kHeaderBegin + header;
}

SafeTensors read_safetensors(const unsigned char* content, uint64_t count) {
  const uint64_t header = header_end(content, count);
  const Json json = parse_json(
      {reinterpret_cast<const char*>(content) + kHeaderBegin, header - kHeaderBegin}, kMostValues);
  if (!json.is(Json::Kind::kObject)) throw Failure("its header is not an object");
  SafeTensors out;
  const unsigned char* data = content + header;
  const uint64_t bytes = count - header;
  for (const auto& [name, entry] : json.object) {
    if (name == "__metadata__") {
      for (const auto& [key, value] : entry.object) {
        if (!value.is(Json::Kind::kString)) throw Failure("its metadata are not strings");
        out.metadata[key] = value.string;
      }
      continue;
    }
    try {
      out.tensors[name] = tensor(entry, data, bytes);
    } catch (const Failure& failure) {
      throw Failure("tensor " + shown(name) + ": " + failure.what());
    }
  }
  check_cover(out, data, bytes);
  return out;
}

}  // namespace dl::graph
