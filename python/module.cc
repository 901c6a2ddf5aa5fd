// The compiled half of `import dfrost`: python/dfrost/*.py gives it names, defaults and documentation.
#include <filesystem>
#include <string>
#include <system_error>

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

// What the system refused: a full disk, a folder that may not be written.
void raise(const std::filesystem::filesystem_error& error) {
  using dfrost::ErrorCode;
  const auto& why = error.code();
  const bool forbidden = why == std::errc::permission_denied || why == std::errc::read_only_file_system;
  const bool full = why == std::errc::no_space_on_device;
  const auto code = forbidden ? ErrorCode::permission_denied
                    : full    ? ErrorCode::resource_exhausted
                              : ErrorCode::failed_precondition;
  raise(dfrost::Error(code, why.message()).at(error.path1().string()));
}

}  // namespace

PYBIND11_MODULE(_native, module) {
  py::register_local_exception_translator([](std::exception_ptr pointer) {
    try {
      if (pointer) std::rethrow_exception(pointer);
    } catch (const dfrost::Error& error) {
      raise(error);
    } catch (const std::filesystem::filesystem_error& error) {
      raise(error);
    }
  });
  module.attr("version") = std::string(dfrost::version());
  dfrost::python::add_transport(module);
  dfrost::python::add_engine(module);
  dfrost::python::add_runs(module);
}
