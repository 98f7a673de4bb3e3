// The facts that CNNL's header states on this machine: values of enumerations, and numbers of
// arguments.
//
// The header is not public, so this vendor is compiled without it. It is part of every installation
// of CNNL, and is read when the library is first used: no value is guessed.
#ifndef DL_CAMBRICON_OPERATORS_HEADER_H_
#define DL_CAMBRICON_OPERATORS_HEADER_H_

#include <cstdint>
#include <string>
#include <unordered_map>

namespace dl::cambricon {

class Header {
 public:
  // Reads the text of a C header: its enumerations, and its declarations of functions whose names
  // begin with "cnnl". Values are integers, or enumerators before them.
  static Header parse(const std::string& text);
  // Reads a file; empty if it cannot be read.
  static Header read(const std::string& path);

  bool is_empty() const { return values_.empty(); }
  // Returns false if the header has no such enumerator.
  bool find(const std::string& name, int64_t* value) const;
  // Returns the number of a function's arguments; -1 if the header does not declare it.
  int arguments_of(const std::string& function) const;

 private:
  std::unordered_map<std::string, int64_t> values_;
  std::unordered_map<std::string, int> functions_;
};

}  // namespace dl::cambricon

#endif  // DL_CAMBRICON_OPERATORS_HEADER_H_
