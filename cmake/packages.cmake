# cpack: three Debian packages out of what is installed for whom: dfrost (program), libdfrost-dev (development) and
# python3-dfrost (python). Shared libraries that they need are found by dpkg-shlibdeps; what C++ programs need to be
# built with is what dfrost itself is built with.
if(NOT DFROST_ENGINE OR DFROST_SANITIZE)
  return()
endif()
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME dfrost)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # the first line of each description
set(CPACK_PACKAGE_VENDOR "The dfrost authors")
set(CPACK_PACKAGE_CONTACT "The dfrost authors <maintainers@dfrost.invalid>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
  WORLD_READ WORLD_EXECUTE)
set(CPACK_COMPONENTS_ALL program development)
if(DFROST_HAS_PYTHON_MODULE)
  list(APPEND CPACK_COMPONENTS_ALL python)
endif()
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS OFF)
set(same "(= ${PROJECT_VERSION})")

# dfrost_package(COMPONENT NAME): how it is called, and the files that each must have in /usr/share/doc.
function(dfrost_package component name)
  string(TOUPPER ${component} COMPONENT)
  set(CPACK_DEBIAN_${COMPONENT}_PACKAGE_NAME ${name} PARENT_SCOPE)
  set(folder ${PROJECT_BINARY_DIR}/packaging/${name})
  file(MAKE_DIRECTORY ${folder})
  file(READ ${PROJECT_SOURCE_DIR}/packaging/changelog changes)
  string(REGEX REPLACE "^dfrost \\([^)]*\\)" "dfrost (${PROJECT_VERSION})" changes "${changes}")
  file(CONFIGURE OUTPUT ${folder}/changelog CONTENT "${changes}" @ONLY)
  execute_process(COMMAND gzip -9nfk ${folder}/changelog COMMAND_ERROR_IS_FATAL ANY)
  install(FILES ${folder}/changelog.gz packaging/copyright DESTINATION share/doc/${name} COMPONENT ${component}
    EXCLUDE_FROM_ALL)
endfunction()

dfrost_package(program dfrost)
execute_process(COMMAND gzip -9nc ${PROJECT_SOURCE_DIR}/CHANGELOG.md OUTPUT_FILE ${PROJECT_BINARY_DIR}/packaging/NEWS.gz
  COMMAND_ERROR_IS_FATAL ANY)
install(FILES ${PROJECT_BINARY_DIR}/packaging/NEWS.gz DESTINATION share/doc/dfrost COMPONENT program EXCLUDE_FROM_ALL)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION science)
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION "decentralized federated prompt tuning
Tunes one frozen vision transformer together, without a server and without
pooling pictures: every client trains a handful of prompts on its own data,
and neighbours merge their prompt sets by optimal transport.
.
This package has the command, a small backbone to begin with, its manual, and
a systemd unit that runs one site of a federation.")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)

dfrost_package(development libdfrost-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "decentralized federated prompt tuning - C++ library
Optimal transport of prompt sets (dfrost::ot), frozen vision transformers with
gradients for prompts (dfrost::engine), and whole experiments (dfrost::run).
.
This package has headers, static libraries and what find_package(dfrost) reads.")
file(STRINGS scripts/packages-build.txt needed REGEX "^lib.*-dev|^nlohmann|^ocl-icd|^zlib|^pkg-config")
list(TRANSFORM needed REPLACE "[ \t]*#.*" "")
list(FILTER needed EXCLUDE REGEX "^lib(asio|cli11|curl|archive)")  # what only the command links
list(JOIN needed ", " needed)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "dfrost ${same}, ${needed}")

if(DFROST_HAS_PYTHON_MODULE)
  dfrost_package(python python3-dfrost)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
  set(CPACK_COMPONENT_PYTHON_DESCRIPTION "decentralized federated prompt tuning - Python module
Merges of prompt sets, frozen vision transformers with gradients for prompts,
and whole experiments, on arrays of NumPy and tensors of PyTorch.")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SHLIBDEPS ON)
  math(EXPR next_minor "${Python_VERSION_MINOR} + 1")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "dfrost ${same}, python3-numpy, \
python3 (>= ${Python_VERSION_MAJOR}.${Python_VERSION_MINOR}~), python3 (<< ${Python_VERSION_MAJOR}.${next_minor}~)")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS "python3-torch, python3-pandas")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/packaging/postinst ${PROJECT_SOURCE_DIR}/packaging/prerm)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_STRICT_PERMISSION ON)
endif()
include(CPack)
