# cmake --install: the executable, the backbone that comes with it, the public headers, and a CMake package:
# find_package(dfrost COMPONENTS ot engine run), each component with what it needs and no more.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/dfrost)

# dfrost_install_component(NAME): its headers, its libraries, and what find_package reads of them.
function(dfrost_install_component name)
  string(TOUPPER ${name} NAME)
  list(TRANSFORM DFROST_${NAME}_HEADERS PREPEND include/dfrost/ OUTPUT_VARIABLE headers)
  list(TRANSFORM DFROST_${NAME}_FOLDERS PREPEND dfrost_ OUTPUT_VARIABLE libraries)
  install(FILES ${headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/dfrost)
  install(TARGETS ${libraries} dfrost_component_${name} EXPORT dfrost_${name}_targets ARCHIVE)
  install(EXPORT dfrost_${name}_targets NAMESPACE dfrost:: FILE dfrost-${name}-targets.cmake DESTINATION ${package})
endfunction()

dfrost_install_component(ot)
if(DFROST_ENGINE)
  dfrost_install_component(engine)
  dfrost_install_component(run)
  install(TARGETS dfrost RUNTIME)
  install(DIRECTORY share/dfrost TYPE DATA)
  install(FILES cmake/share_folder.cc DESTINATION ${package})
endif()

# Before 1.0 a minor version may change what programs are built on; from then on only a major one (docs/reference/api.md).
set(compatible SameMajorVersion)
if(PROJECT_VERSION_MAJOR EQUAL 0)
  set(compatible SameMinorVersion)
endif()
set(config_file ${PROJECT_BINARY_DIR}/dfrost-config.cmake)
set(version_file ${PROJECT_BINARY_DIR}/dfrost-config-version.cmake)
set(share_folder ${CMAKE_INSTALL_DATADIR}/dfrost)
configure_package_config_file(cmake/dfrost-config.cmake ${config_file}
  INSTALL_DESTINATION ${package} PATH_VARS share_folder)
write_basic_package_version_file(${version_file} COMPATIBILITY ${compatible})
install(FILES ${config_file} ${version_file} DESTINATION ${package})
