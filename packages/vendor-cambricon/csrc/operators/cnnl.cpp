#include "operators/cnnl.h"

#include "dl/kit/library/values.h"
#include "runtime/driver.h"

namespace dl::cambricon {
namespace {

struct Known {
  const char* name;
  int64_t value;
};
// Numbers that library/library.yaml states, from public sources; the header must agree.
constexpr Known kKnown[] = {
    {"CNNL_DTYPE_HALF", 1},  {"CNNL_DTYPE_FLOAT", 2},  {"CNNL_DTYPE_INT8", 3},
    {"CNNL_DTYPE_INT16", 4}, {"CNNL_DTYPE_INT32", 6},  {"CNNL_DTYPE_UINT8", 7},
    {"CNNL_DTYPE_BOOL", 8},  {"CNNL_DTYPE_INT64", 9},  {"CNNL_DTYPE_DOUBLE", 14},
    {"CNNL_LAYOUT_NHWC", 1}, {"CNNL_LAYOUT_ARRAY", 4}, {"CNNL_DTYPE_BFLOAT16", 17},
};

std::string header_path() {
  const std::string root = neuware_home();
  return root.empty() ? "" : root + "/include/cnnl.h";
}

}  // namespace

std::vector<std::string> cnnl_names() { return library_names("libcnnl.so"); }

Cnnl& the_cnnl() {
  static Cnnl found;
  return found;
}

Cnnl::Cnnl()
    : Library(cnnl_names(), "operator library", "install CNNL and set NEUWARE_HOME"),
      header_path_(header_path()),
      header_(Header::read(header_path_)) {
  for (const Known& known : kKnown) {
    int64_t stated = 0;
    if (header_.find(known.name, &stated) && stated != known.value)
      disagreement_ = header_path_ + " states " + known.name + " = " + std::to_string(stated) +
                      ", and this vendor was built for " + std::to_string(known.value);
  }
}

int64_t Cnnl::value(const char* name) const {
  if (!disagreement_.empty()) kit::library::refuse(disagreement_);
  int64_t found = 0;
  if (header_.find(name, &found)) return found;
  if (header_.is_empty())
    kit::library::refuse("the value of " + std::string(name) +
                         " is unknown, because CNNL's header was not found: set NEUWARE_HOME to a "
                         "folder with include/cnnl.h");
  kit::library::refuse(header_path_ + " does not state " + name);
}

bool Cnnl::takes(const char* function, int arguments) const {
  if (!disagreement_.empty()) return false;
  const int declared = header_.arguments_of(function);
  return declared < 0 || declared == arguments;
}

void Cnnl::check(Status status, const char* function) {
  if (status != 0) kit::library::refuse(std::string(function) + " failed: " + describe(status));
}

std::string Cnnl::describe(Status status) {
  const char* const text = cnnlGetErrorString.available() ? cnnlGetErrorString(status) : nullptr;
  return (text == nullptr ? std::string("status") : std::string(text)) + " (" +
         std::to_string(status) + ")";
}

}  // namespace dl::cambricon
