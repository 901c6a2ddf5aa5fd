// Numbers, words and paths of a call from Python. What is none of the kind, or cannot be (a negative count),
// is an Error that says which argument it was, what came, and what is wanted.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <filesystem>
#include <string>

namespace dfrost::python {

// A whole number, 0 or more; NumPy's count as well, floats do not.
std::uint64_t whole_of(pybind11::handle object, const char* name);

double number_of(pybind11::handle object, const char* name);
bool flag_of(pybind11::handle object, const char* name);
std::string text_of(pybind11::handle object, const char* name);

// A str, or what os.fspath() takes.
std::filesystem::path path_of(pybind11::handle object, const char* name);

}  // namespace dfrost::python
