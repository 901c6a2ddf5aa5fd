// The compiled half of `import dfrost`: python/dfrost/*.py gives it names, defaults and documentation.
#include <string>

#include "arrays.h"
#include "base/version.h"
#include "dfrost/error.h"

namespace {

namespace py = pybind11;

// dfrost.Error, or a kind of it that is also what Python would raise: dfrost/_errors.py.
void raise(const dfrost::Error& error) {
  const py::object make = py::module_::import("dfrost._errors").attr("from_parts");
  const py::object made = make(std::string(dfrost::to_string(error.code())), std::string(error.what()),
                               error.place(), error.hint());
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(made.ptr())), made.ptr());
}

}  // namespace

PYBIND11_MODULE(_native, module) {
  py::register_local_exception_translator([](std::exception_ptr pointer) {
    try {
      if (pointer) std::rethrow_exception(pointer);
    } catch (const dfrost::Error& error) {
      raise(error);
    }
  });
  module.attr("version") = std::string(dfrost::version());
  dfrost::python::add_transport(module);
  dfrost::python::add_engine(module);
  dfrost::python::add_runs(module);
}
