#include "arrays.h"

#include <fmt/format.h>

#include "dfrost/error.h"

namespace dfrost::python {
namespace {

[[noreturn]] void refuse(const std::string& name, const std::string& what, const std::string& fix) {
  throw Error(ErrorCode::invalid_argument, fmt::format("{} {}", name, what), fix);
}

std::string shape_text(const py::array& array) {
  std::string text = "[";
  for (py::ssize_t i = 0; i < array.ndim(); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : ", ", array.shape(i));
  return text + "]";
}

template <typename T>
void require_dtype(const py::array& array, const std::string& name, const char* dtype) {
  if (py::isinstance<py::array_t<T>>(array)) return;
  refuse(name, fmt::format("is {}, and has to be {}", std::string(py::str(array.dtype())), dtype),
         fmt::format("pass {}.astype(np.{}), or .to(torch.{}) of a tensor", name, dtype, dtype));
}

bool is_dense(const py::array& array, py::ssize_t axes) {
  py::ssize_t expected = array.itemsize();
  for (py::ssize_t i = array.ndim() - 1; i >= std::max<py::ssize_t>(0, array.ndim() - axes); --i) {
    if (array.shape(i) != 1 && array.strides(i) != expected) return false;
    expected *= array.shape(i);
  }
  return true;
}

void require_dense(const py::array& array, const std::string& name, py::ssize_t axes) {
  if (is_dense(array, axes)) return;
  refuse(name, "does not lie row by row in memory, and would have to be copied",
         fmt::format("pass np.ascontiguousarray({}), or .contiguous() of a tensor", name));
}

}  // namespace

py::array array_of(py::handle object, const std::string& name) {
  if (py::isinstance<py::array>(object)) return py::reinterpret_borrow<py::array>(object);
  if (!py::hasattr(object, "__dlpack__"))
    refuse(name,
           fmt::format("is {}, not an array", std::string(py::str(py::type::of(object).attr("__name__")))),
           fmt::format("pass np.asarray({}, dtype=np.float32)", name));
  try {
    return py::module_::import("numpy").attr("from_dlpack")(object).cast<py::array>();
  } catch (py::error_already_set& error) {
    refuse(name, fmt::format("cannot be read in place: {}", std::string(py::str(error.value()))),
           fmt::format("pass {}.detach().cpu()", name));
  }
}

py::array float_array(py::handle object, const std::string& name, py::ssize_t dense) {
  py::array array = array_of(object, name);
  require_dtype<float>(array, name, "float32");
  require_dense(array, name, dense);
  return array;
}

Rows rows_of(py::handle object, const std::string& name) {
  py::array array = float_array(object, name, 1);
  if (array.ndim() != 2)
    refuse(
        name,
        fmt::format("has the shape {}, and has to be a matrix: a prompt or a point a row", shape_text(array)),
        fmt::format("pass {}[None, :] where it is one row", name));
  const py::ssize_t item = array.itemsize();
  const py::ssize_t stride = array.shape(0) > 1 ? array.strides(0) / item : array.shape(1);
  if (stride < array.shape(1) || array.strides(0) % item != 0)
    refuse(name, "has rows that overlap or go backwards", fmt::format("pass np.ascontiguousarray({})", name));
  const MatrixView<const float> view(
      static_cast<const float*>(array.data()), static_cast<std::size_t>(array.shape(0)),
      static_cast<std::size_t>(array.shape(1)), static_cast<std::size_t>(stride));
  return {std::move(array), view};
}

RowsList rows_list(py::handle objects, const std::string& name) {
  if (!PyList_Check(objects.ptr()) && !PyTuple_Check(objects.ptr()))
    refuse(name, "is no list of arrays", fmt::format("pass list({}), or [a, b] of single arrays", name));
  RowsList list;
  for (const auto& object : py::reinterpret_borrow<py::sequence>(objects)) {
    auto [keep, view] = rows_of(object, fmt::format("{}[{}]", name, list.keep.size()));
    list.keep.push_back(std::move(keep));
    list.views.push_back(view);
  }
  if (list.views.empty()) refuse(name, "is empty", "pass one array at least");
  for (const auto& view : list.views) {
    if (view.cols() != list.views.front().cols())
      refuse(name, "holds rows of different lengths", "all rows of one call have the same length");
  }
  return list;
}

std::vector<double> weights_of(py::handle object, const std::string& name) {
  if (object.is_none()) return {};
  try {
    std::vector<double> weights;
    for (const auto& value : object) weights.push_back(py::float_(py::reinterpret_borrow<py::object>(value)));
    return weights;
  } catch (py::error_already_set&) {
    refuse(name, "is no list of numbers", "pass a list of floats that sum to one, or None");
  }
}

Pictures pictures_of(py::handle object, const std::string& name) {
  Pictures pictures;
  const auto add = [&](py::array array, const std::string& called) {
    require_dtype<std::uint8_t>(array, called, "uint8");
    const bool several = array.ndim() == 4;
    if ((array.ndim() != 3 && !several) || array.shape(array.ndim() - 1) != 3)
      refuse(called,
             fmt::format("has the shape {}, and has to be [H, W, 3] or [N, H, W, 3]", shape_text(array)),
             "grey pictures: np.repeat(grey[..., None], 3, axis=-1); tensors: .permute(0, 2, 3, "
             "1).contiguous()");
    require_dense(array, called, 3);
    const py::ssize_t first = several ? 1 : 0, count = several ? array.shape(0) : 1;
    for (py::ssize_t i = 0; i < count; ++i) {
      const auto* bytes = static_cast<const std::uint8_t*>(array.data());
      pictures.views.push_back({bytes + (several ? i * array.strides(0) : 0),
                                static_cast<std::size_t>(array.shape(first + 1)),
                                static_cast<std::size_t>(array.shape(first))});
    }
    pictures.keep.push_back(std::move(array));
  };
  if (!PyList_Check(object.ptr()) && !PyTuple_Check(object.ptr())) {
    add(array_of(object, name), name);
  } else {
    for (const auto& one : py::reinterpret_borrow<py::sequence>(object)) {
      const auto called = fmt::format("{}[{}]", name, pictures.keep.size());
      add(array_of(one, called), called);
    }
  }
  return pictures;
}

}  // namespace dfrost::python
