# cmake --install: the executable, the backbone that comes with it, the public headers, and a CMake package:
# find_package(dfrost COMPONENTS ot engine run), each component with what it needs and no more. What is installed for
# whom is also what packages.cmake makes three packages of: program, development, and python (python/CMakeLists.txt).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/dfrost)

# dfrost_install_component(NAME): its headers, its libraries, and what find_package reads of them.
function(dfrost_install_component name)
  string(TOUPPER ${name} NAME)
  list(TRANSFORM DFROST_${NAME}_HEADERS PREPEND include/dfrost/ OUTPUT_VARIABLE headers)
  list(TRANSFORM DFROST_${NAME}_FOLDERS PREPEND dfrost_ OUTPUT_VARIABLE libraries)
  install(FILES ${headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/dfrost COMPONENT development)
  install(TARGETS ${libraries} dfrost_component_${name} EXPORT dfrost_${name}_targets ARCHIVE COMPONENT development)
  install(EXPORT dfrost_${name}_targets NAMESPACE dfrost:: FILE dfrost-${name}-targets.cmake DESTINATION ${package}
    COMPONENT development)
endfunction()

# dfrost_install_manual(): the man page and what shells complete, made by the executable out of its own commands. One
# with a sanitizer in it need not start everywhere, and nobody installs it.
function(dfrost_install_manual)
  if(DFROST_SANITIZE)
    return()
  endif()
  set(folder ${PROJECT_BINARY_DIR}/manual)
  set(data ${CMAKE_INSTALL_DATADIR})
  file(MAKE_DIRECTORY ${folder})
  # Of one target: written together, and again only when the executable has changed.
  add_custom_command(OUTPUT ${folder}/dfrost.1.gz ${folder}/dfrost.bash ${folder}/_dfrost ${folder}/dfrost.fish
    COMMAND dfrost man | gzip -9n > ${folder}/dfrost.1.gz
    COMMAND dfrost completion bash > ${folder}/dfrost.bash
    COMMAND dfrost completion zsh > ${folder}/_dfrost
    COMMAND dfrost completion fish > ${folder}/dfrost.fish
    DEPENDS dfrost VERBATIM)
  add_custom_target(dfrost_manual ALL DEPENDS ${folder}/dfrost.1.gz)
  install(FILES ${folder}/dfrost.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT program)
  install(FILES ${folder}/dfrost.bash DESTINATION ${data}/bash-completion/completions RENAME dfrost COMPONENT program)
  install(FILES ${folder}/_dfrost DESTINATION ${data}/zsh/vendor-completions COMPONENT program)
  install(FILES ${folder}/dfrost.fish DESTINATION ${data}/fish/vendor_completions.d COMPONENT program)
endfunction()

dfrost_install_component(ot)
if(DFROST_ENGINE)
  dfrost_install_component(engine)
  dfrost_install_component(run)
  install(TARGETS dfrost RUNTIME COMPONENT program)
  install(DIRECTORY share/dfrost TYPE DATA COMPONENT program)
  install(FILES share/systemd/dfrost-peer@.service DESTINATION lib/systemd/system COMPONENT program)
  install(FILES cmake/share_folder.cc DESTINATION ${package} COMPONENT development)
  dfrost_install_manual()
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
install(FILES ${config_file} ${version_file} DESTINATION ${package} COMPONENT development)
