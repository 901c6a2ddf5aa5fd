# Helpers shared by every folder: one library per folder of src/, one test program per folder of tests/.

# How our own code is compiled; users of an installed library get none of it.
add_library(dfrost_options INTERFACE)
target_include_directories(dfrost_options INTERFACE ${PROJECT_SOURCE_DIR}/src)
# Warnings are for who works on dfrost: another compiler's new one must not break a project that adds it as a folder.
if(PROJECT_IS_TOP_LEVEL)
  target_compile_options(dfrost_options INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Werror)
endif()
# Same source, same rounding: the compiler may not fuse a*b+c on its own, since whether it did would depend on
# the target and the inlining. Kernels that want an FMA ask for it.
target_compile_options(dfrost_options INTERFACE -ffp-contract=off)
if(DFROST_SANITIZE)
  target_compile_options(dfrost_options INTERFACE
    -fsanitize=${DFROST_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)  # its own headers set it off once instrumented
  target_compile_definitions(dfrost_options INTERFACE DFROST_SANITIZED)
  target_link_options(dfrost_options INTERFACE -fsanitize=${DFROST_SANITIZE})
  # Undefined behaviour is looked for in the libraries, not in the programs that test them; and what AddressSanitizer
  # sees anyway is not checked twice. That takes a third off the time to build them.
  if(DFROST_SANITIZE MATCHES undefined)
    target_compile_options(dfrost_options INTERFACE
      $<IF:$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>,-fno-sanitize=undefined,-fno-sanitize=null$<COMMA>object-size>
      -fno-sanitize=vptr,nonnull-attribute,returns-nonnull-attribute)
  endif()
endif()

# Tells the fuzzers which branches an input took.
if(DFROST_FUZZERS)
  target_compile_options(dfrost_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

# The folders that time is spent in. The others are optimised little, and take a third less time to build. Under a
# sanitizer they are not optimised at all, nor are their pointers looked at for alignment, since none of them reads raw
# memory. Fuzzers run long enough to want all of it.
set(DFROST_COMPUTING_FOLDERS base privacy kernels data backbone train ot merge measure)

# dfrost_library(NAME DEPENDS ... [EXCEPT ...]): the static library of one folder, of every .cc file in it but those that
# another target chooses.
function(dfrost_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;EXCEPT" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  foreach(file ${ARG_EXCEPT})
    list(REMOVE_ITEM sources ${CMAKE_CURRENT_SOURCE_DIR}/${file})
  endforeach()
  add_library(dfrost_${name} STATIC ${sources})
  target_compile_features(dfrost_${name} PUBLIC cxx_std_20)
  target_include_directories(dfrost_${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)
  target_link_libraries(dfrost_${name} PUBLIC $<BUILD_INTERFACE:dfrost_options> ${ARG_DEPENDS})
  if(NOT name IN_LIST DFROST_COMPUTING_FOLDERS)
    target_compile_options(dfrost_${name} PRIVATE $<$<CONFIG:Release>:-O1>)
    if(DFROST_SANITIZE AND NOT DFROST_FUZZERS)
      target_compile_options(dfrost_${name} PRIVATE -O0)
      if(DFROST_SANITIZE MATCHES undefined)
        target_compile_options(dfrost_${name} PRIVATE -fno-sanitize=alignment)
      endif()
    endif()
  endif()
endfunction()

# What may take long is started first, so that at the end no core waits for one long test: ctest starts what costs most,
# and in a clean clone it does not know that yet. Others cost nothing until it does.
set(DFROST_LONG 100)

# dfrost_test(NAME SOURCES ... DEPENDS ... [LABELS ...]): one GoogleTest program; each TEST becomes a ctest entry.
# Tests that wait for an oracle's Python belong in a program of their own with LABELS oracle: the sanitizer presets
# leave those out, and do not build them.
function(dfrost_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;LABELS" ${ARGN})
  if(DFROST_SANITIZE AND "oracle" IN_LIST ARG_LABELS)
    return()
  endif()
  add_executable(${name}_test ${ARG_SOURCES})
  target_link_libraries(${name}_test PRIVATE dfrost_options dfrost_test_support ${ARG_DEPENDS} GTest::gtest_main)
  target_compile_definitions(${name}_test PRIVATE
    DFROST_SOURCE_DIR="${PROJECT_SOURCE_DIR}" DFROST_PYTHON="${DFROST_PYTHON}")
  # What is tested is optimised, not the test: that takes half off the time to build them.
  if(CMAKE_BUILD_TYPE STREQUAL "Release" OR DFROST_SANITIZE)
    target_compile_options(${name}_test PRIVATE -O0)
  endif()
  set(labels)
  if(ARG_LABELS)
    set(labels LABELS ${ARG_LABELS} COST ${DFROST_LONG})
  endif()
  gtest_discover_tests(${name}_test DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 300 ${labels})
endfunction()

# dfrost_script_test(NAME LABEL ... COMMAND ...): a Python script as one ctest entry; exit code 77 is a skip.
function(dfrost_script_test name)
  cmake_parse_arguments(ARG "" "LABEL" "COMMAND" ${ARGN})
  add_test(NAME ${name} COMMAND ${DFROST_PYTHON} -B ${ARG_COMMAND})
  set_tests_properties(${name} PROPERTIES LABELS ${ARG_LABEL} TIMEOUT 300 SKIP_RETURN_CODE 77 COST ${DFROST_LONG})
endfunction()
