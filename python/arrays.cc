#include "arrays.h"

#include <fmt/format.h>

#include "dfrost/error.h"

namespace dfrost::python {
namespace {

[[noreturn]] void refuse(const std::string& name, const std::string& what, const std::string& fix) {
  throw Error(ErrorCode::invalid_argument, fmt::format("{} {}", name, what), fix);
}

template <typename T>
void require_dtype(const py::array& array, const std::string& name, const char* dtype) {
  if (py::isinstance<py::array_t<T>>(array)) return;
  // A cast would make pictures from 0 to 1 black.
  const bool floats = array.dtype().kind() == 'f' && std::is_same_v<T, std::uint8_t>;
  refuse(name, fmt::format("is {}, and has to be {}", std::string(py::str(array.dtype())), dtype),
         floats ? fmt::format("where it goes from 0 to 1, pass (255 * {}).round().astype(np.uint8)", name)
                : fmt::format("pass {}.astype(np.{}), or .to(torch.{}) of a tensor", name, dtype, dtype));
}

bool is_dense(const py::array& array, py::ssize_t axes) {
  if (array.size() == 0) return true;
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

void require_aligned(const py::array& array, const std::string& name) {
  if ((array.flags() & py::detail::npy_api::NPY_ARRAY_ALIGNED_) != 0) return;
  refuse(name, "begins in the middle of a number's place in memory, and would have to be copied",
         fmt::format("pass {}.copy()", name));
}

std::string type_name(py::handle object) {
  return py::str(py::type::of(object).attr("__name__")).cast<std::string>();
}

// Of NumPy: the values under a mask are not meant.
void require_unmasked(py::handle object, const std::string& name) {
  if (Py_TYPE(object.ptr()) == py::detail::npy_api::get().PyArray_Type_) return;
  if (!py::hasattr(object, "mask") || !py::hasattr(object, "filled")) return;
  refuse(name, "is masked, and what lies under the mask would be taken for values",
         fmt::format("pass {}.filled(…) with what they shall be", name));
}

// What has to be done to a tensor before NumPy can look at it.
std::string tensor_fix(py::handle tensor, const std::string& name, const char* dtype) {
  const std::string held = py::str(py::getattr(tensor, "dtype", py::str(dtype))).cast<std::string>();
  const bool as_wanted = held.ends_with(dtype);
  return fmt::format("pass {}.detach().cpu(){}", name,
                     as_wanted ? std::string() : fmt::format(".to(torch.{})", dtype));
}

}  // namespace

py::array array_of(py::handle object, const std::string& name, const char* dtype) {
  if (py::isinstance<py::array>(object)) {
    require_unmasked(object, name);
    return py::reinterpret_borrow<py::array>(object);
  }
  if (!py::hasattr(object, "__dlpack__"))
    refuse(name, fmt::format("is {}, not an array", type_name(object)),
           PyUnicode_Check(object.ptr()) || py::hasattr(object, "__fspath__")
               ? std::string("dfrost.read_image(file) reads a picture, dfrost.Adapter(file) prompts")
               : fmt::format("pass np.asarray({}, dtype=np.{})", name, dtype));
  try {
    return py::module_::import("numpy").attr("from_dlpack")(object).cast<py::array>();
  } catch (py::error_already_set& error) {
    refuse(name, fmt::format("cannot be read in place: {}", std::string(py::str(error.value()))),
           tensor_fix(object, name, dtype));
  }
}

std::string shape_text(std::span<const py::ssize_t> shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

py::array float_array(py::handle object, const std::string& name, py::ssize_t dense) {
  py::array array = array_of(object, name, "float32");
  require_dtype<float>(array, name, "float32");
  require_aligned(array, name);
  require_dense(array, name, dense);
  return array;
}

Rows rows_of(py::handle object, const std::string& name) {
  py::array array = float_array(object, name, 1);
  if (array.ndim() != 2)
    refuse(
        name,
        fmt::format("has the shape {}, and has to be a matrix: a prompt or a point a row", shape_text(array)),
        array.ndim() == 1 ? fmt::format("pass {}[None, :] where it is one row", name)
                          : fmt::format("pass {}[0], or list({}) where several are wanted", name, name));
  if (array.size() == 0)
    refuse(name, fmt::format("has the shape {}: there is nothing in it", shape_text(array)),
           "leave it out, or give it a row at least");
  const py::ssize_t item = array.itemsize();
  const py::ssize_t stride = array.shape(0) > 1 ? array.strides(0) / item : array.shape(1);
  if (stride < array.shape(1) || array.strides(0) % item != 0)
    refuse(name, "has rows that overlap or go backwards",
           fmt::format("pass np.ascontiguousarray({}), or .contiguous() of a tensor", name));
  const MatrixView<const float> view(
      static_cast<const float*>(array.data()), static_cast<std::size_t>(array.shape(0)),
      static_cast<std::size_t>(array.shape(1)), static_cast<std::size_t>(stride));
  return {std::move(array), view};
}

RowsList rows_list(py::handle objects, const std::string& name) {
  if (!PyList_Check(objects.ptr()) && !PyTuple_Check(objects.ptr()))
    refuse(name, fmt::format("is {}, and has to be a list of arrays", type_name(objects)),
           fmt::format("pass list({}), or [a, b] of single arrays", name));
  RowsList list;
  for (const auto& object : py::reinterpret_borrow<py::sequence>(objects)) {
    auto [keep, view] = rows_of(object, fmt::format("{}[{}]", name, list.keep.size()));
    list.keep.push_back(std::move(keep));
    list.views.push_back(view);
  }
  if (list.views.empty()) refuse(name, "is empty", "pass one array at least");
  for (std::size_t i = 1; i < list.views.size(); ++i) {
    const std::size_t width = list.views.front().cols();
    if (list.views[i].cols() != width)
      refuse(fmt::format("{}[{}]", name, i),
             fmt::format("has rows of length {}, and {}[0] of length {}", list.views[i].cols(), name, width),
             "prompt sets fit together when they belong to backbones of the same width");
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
             "grey pictures: np.repeat(grey[..., None], 3, axis=-1); transparent ones: rgba[..., :3].copy(); "
             "tensors: .permute(0, 2, 3, 1).contiguous()");
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
    add(array_of(object, name, "uint8"), name);
  } else {
    for (const auto& one : py::reinterpret_borrow<py::sequence>(object)) {
      const auto called = fmt::format("{}[{}]", name, pictures.keep.size());
      add(array_of(one, called, "uint8"), called);
    }
  }
  return pictures;
}

}  // namespace dfrost::python
