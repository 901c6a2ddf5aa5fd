# cmake --install: the executable, the backbone that comes with it, the public headers, and a CMake package with the
# optimal transport of prompt sets: find_package(dfrost), then link dfrost::ot.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/dfrost)

if(DFROST_ENGINE)
  install(TARGETS dfrost RUNTIME)
  install(DIRECTORY share/dfrost TYPE DATA)
endif()
install(DIRECTORY include/dfrost TYPE INCLUDE)

set_target_properties(dfrost_merge PROPERTIES EXPORT_NAME ot)
install(TARGETS dfrost_base dfrost_ot dfrost_merge EXPORT dfrost_targets ARCHIVE)
install(EXPORT dfrost_targets NAMESPACE dfrost:: FILE dfrost-targets.cmake DESTINATION ${package})

set(version_file ${PROJECT_BINARY_DIR}/dfrost-config-version.cmake)
write_basic_package_version_file(${version_file} COMPATIBILITY SameMinorVersion)
install(FILES cmake/dfrost-config.cmake ${version_file} DESTINATION ${package})
