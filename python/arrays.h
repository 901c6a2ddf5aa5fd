// Arrays of Python as views, never as copies: NumPy's, and through DLPack those of PyTorch and others. What
// does not fit (another dtype, a layout that cannot be walked row by row) is an Error that names the fix.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "dfrost/image.h"
#include "dfrost/matrix_view.h"

namespace dfrost::python {

namespace py = pybind11;

// The array itself, or NumPy's view of what speaks DLPack. `name` is what errors call it, `dtype` what they
// advise.
py::array array_of(py::handle object, const std::string& name, const char* dtype);

// "[2, 3]", for errors.
std::string shape_text(std::span<const py::ssize_t> shape);
inline std::string shape_text(const py::array& array) {
  return shape_text({array.shape(), static_cast<std::size_t>(array.ndim())});
}

// As array_of(), of float32 whose last `dense` axes lie one element after the other.
py::array float_array(py::handle object, const std::string& name, py::ssize_t dense);

// A matrix, and the array that keeps it alive. Rows may be apart: a slice of columns is fine.
struct Rows {
  py::array keep;
  MatrixView<const float> view;
};
Rows rows_of(py::handle object, const std::string& name);

struct RowsList {
  std::vector<py::array> keep;
  std::vector<MatrixView<const float>> views;
};
// A list or tuple of matrices; errors call them name[0], name[1], …
RowsList rows_list(py::handle objects, const std::string& name);

// None: empty.
std::vector<double> weights_of(py::handle object, const std::string& name);

// One [H, W, 3], several [N, H, W, 3], or a list of [H, W, 3]; uint8.
struct Pictures {
  std::vector<py::array> keep;
  std::vector<ImageView> views;
};
Pictures pictures_of(py::handle object, const std::string& name);

// An array that owns the vector.
template <typename T>
py::array_t<T> owned(std::vector<T> values, std::vector<py::ssize_t> shape) {
  auto held = std::make_unique<std::vector<T>>(std::move(values));
  T* data = held->data();
  const py::capsule owner(held.release(), [](void* p) { delete static_cast<std::vector<T>*>(p); });
  return py::array_t<T>(std::move(shape), data, owner);
}

inline py::ssize_t length(std::size_t count) { return static_cast<py::ssize_t>(count); }

void add_transport(py::module_& module);
void add_engine(py::module_& module);
void add_runs(py::module_& module);

}  // namespace dfrost::python
