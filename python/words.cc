#include "words.h"

#include <fmt/format.h>
#include <pybind11/stl/filesystem.h>

#include "dfrost/error.h"

namespace dfrost::python {
namespace {

namespace py = pybind11;

[[noreturn]] void refuse_word(py::handle object, const char* name, const char* wanted) {
  std::string shown = py::repr(object).cast<std::string>();
  constexpr std::size_t kMost = 60;
  if (shown.size() > kMost) shown = std::string(py::str(py::type::of(object).attr("__name__")));
  throw Error(ErrorCode::invalid_argument, fmt::format("{} is {}, and has to be {}", name, shown, wanted));
}

// NumPy's bool is none of Python's.
bool is_flag(py::handle object) {
  return PyBool_Check(object.ptr()) ||
         std::string_view(Py_TYPE(object.ptr())->tp_name).starts_with("numpy.bool");
}

}  // namespace

std::uint64_t whole_of(py::handle object, const char* name) {
  constexpr const char* kWanted = "a whole number, 0 or more";
  if (is_flag(object) || !PyIndex_Check(object.ptr())) refuse_word(object, name, kWanted);
  const auto index = py::reinterpret_steal<py::object>(PyNumber_Index(object.ptr()));
  const std::uint64_t value = index ? PyLong_AsUnsignedLongLong(index.ptr()) : 0;
  if (PyErr_Occurred() == nullptr) return value;
  PyErr_Clear();
  refuse_word(object, name, kWanted);
}

double number_of(py::handle object, const char* name) {
  const double value = PyUnicode_Check(object.ptr()) ? 0 : PyFloat_AsDouble(object.ptr());
  if (PyErr_Occurred() == nullptr && !PyUnicode_Check(object.ptr())) return value;
  PyErr_Clear();
  refuse_word(object, name, "a number");
}

bool flag_of(py::handle object, const char* name) {
  if (!is_flag(object)) refuse_word(object, name, "True or False");
  return PyObject_IsTrue(object.ptr()) == 1;
}

std::string text_of(py::handle object, const char* name) {
  if (!PyUnicode_Check(object.ptr())) refuse_word(object, name, "a text");
  return object.cast<std::string>();
}

std::filesystem::path path_of(py::handle object, const char* name) {
  py::detail::make_caster<std::filesystem::path> path;
  if (!path.load(object, true)) refuse_word(object, name, "a name or a path");
  return py::detail::cast_op<std::filesystem::path&>(path);
}

}  // namespace dfrost::python
