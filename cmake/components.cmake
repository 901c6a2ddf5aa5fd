# What others link: dfrost::ot, dfrost::engine and dfrost::run, each a name for the libraries of some folders, the same
# in a build that takes dfrost by add_subdirectory and in an installed package (install.cmake).

# Public headers, below include/dfrost.
set(DFROST_OT_HEADERS error.h matrix_view.h measure.h merge.h wasserstein.h)
set(DFROST_ENGINE_HEADERS adapter.h backbone.h geometry.h image.h preprocessing.h threads.h)
set(DFROST_RUN_HEADERS config.h dfrost.h figures.h run.h)

# Folders of src/; those of a component before it are not named again.
set(DFROST_OT_FOLDERS base ot merge)
set(DFROST_ENGINE_FOLDERS privacy kernels data backbone train adapter)
set(DFROST_RUN_FOLDERS partition network measure config records run)

# dfrost_component(NAME LINKS ...)
function(dfrost_component name)
  cmake_parse_arguments(ARG "" "" "LINKS" ${ARGN})
  add_library(dfrost_component_${name} INTERFACE)
  add_library(dfrost::${name} ALIAS dfrost_component_${name})
  set_target_properties(dfrost_component_${name} PROPERTIES EXPORT_NAME ${name})
  target_link_libraries(dfrost_component_${name} INTERFACE ${ARG_LINKS})
endfunction()

dfrost_component(ot LINKS dfrost_merge)
if(DFROST_ENGINE)
  dfrost_component(engine LINKS dfrost_adapter)
  dfrost_component(run LINKS dfrost_run dfrost_component_engine dfrost_component_ot)
  # A static library cannot tell where it was installed: a line in the program that links it does.
  target_sources(dfrost_component_engine INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/cmake/share_folder.cc>)
  target_compile_definitions(dfrost_component_engine INTERFACE
    $<BUILD_INTERFACE:DFROST_SHARE_FOLDER="${PROJECT_SOURCE_DIR}/share/dfrost">)
endif()
