# What find_package(dfrost) reads: the libraries that dfrost::ot links, then dfrost::ot.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
find_dependency(fmt)
find_dependency(nlohmann_json)
find_dependency(PkgConfig)
pkg_check_modules(HWY REQUIRED QUIET IMPORTED_TARGET libhwy)
include(${CMAKE_CURRENT_LIST_DIR}/dfrost-targets.cmake)
