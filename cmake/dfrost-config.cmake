# What find_package(dfrost COMPONENTS ot engine run) reads. A component needs those before it; without a list, all that
# was installed are there. Each looks only for the packages that it links.
@PACKAGE_INIT@
set(dfrost_share_folder "@PACKAGE_share_folder@")  # now: other packages have a prefix of that name too
include(CMakeFindDependencyMacro)

set(dfrost_wanted ${dfrost_FIND_COMPONENTS})
if(NOT dfrost_wanted)
  set(dfrost_wanted ot)
  foreach(component engine run)
    if(EXISTS ${CMAKE_CURRENT_LIST_DIR}/dfrost-${component}-targets.cmake)
      list(APPEND dfrost_wanted ${component})
    endif()
  endforeach()
endif()
foreach(component ${dfrost_wanted})
  if(NOT EXISTS ${CMAKE_CURRENT_LIST_DIR}/dfrost-${component}-targets.cmake)
    set(dfrost_FOUND FALSE)
    set(dfrost_NOT_FOUND_MESSAGE "this installation of dfrost has no component '${component}': there are ot, engine and run, \
and only ot where dfrost was built with DFROST_ENGINE=OFF")
    return()
  endif()
endforeach()
if(run IN_LIST dfrost_wanted)
  list(APPEND dfrost_wanted engine)
endif()

find_dependency(Threads)
find_dependency(fmt)
find_dependency(PkgConfig)
if(NOT TARGET PkgConfig::HWY)
  pkg_check_modules(HWY REQUIRED QUIET IMPORTED_TARGET libhwy)
endif()
include(${CMAKE_CURRENT_LIST_DIR}/dfrost-ot-targets.cmake)
set(dfrost_ot_FOUND TRUE)

if(engine IN_LIST dfrost_wanted)
  find_dependency(OpenMP COMPONENTS CXX)
  find_dependency(dnnl)
  find_dependency(PNG)
  find_dependency(JPEG)
  find_dependency(GIF)
  if(NOT TARGET PkgConfig::WEBP)
    pkg_check_modules(WEBP REQUIRED QUIET IMPORTED_TARGET libwebp libwebpdemux)
  endif()
  find_dependency(ZLIB)
  include(${CMAKE_CURRENT_LIST_DIR}/dfrost-engine-targets.cmake)
  # Read by cmake/share_folder.cc.
  set_target_properties(dfrost::engine PROPERTIES
    INTERFACE_SOURCES ${CMAKE_CURRENT_LIST_DIR}/share_folder.cc
    INTERFACE_COMPILE_DEFINITIONS "DFROST_SHARE_FOLDER=\"${dfrost_share_folder}\"")
  set(dfrost_engine_FOUND TRUE)
endif()

if(run IN_LIST dfrost_wanted)
  if(NOT TARGET PkgConfig::TOMLPP)
    pkg_check_modules(TOMLPP REQUIRED QUIET IMPORTED_TARGET tomlplusplus)
  endif()
  include(${CMAKE_CURRENT_LIST_DIR}/dfrost-run-targets.cmake)
  set(dfrost_run_FOUND TRUE)
endif()
