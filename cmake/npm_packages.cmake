# Fetches the packages that FOLDER/package-lock.json names into FOLDER/node_modules, unless they are there already.
#   cmake -DNPM=... -DFOLDER=... -DPACKAGES=all|bundle -DSTAMP=... -P npm_packages.cmake
# node_modules is shared by every build folder, so it remembers itself what it holds.
file(SHA256 ${FOLDER}/package-lock.json lock)
set(memory ${FOLDER}/node_modules/.dfrost-packages)
file(LOCK ${FOLDER} DIRECTORY TIMEOUT 600)  # another preset may be building at the same time

set(held "")
if(EXISTS ${memory})
  file(READ ${memory} held)
endif()
if(NOT held STREQUAL "all ${lock}" AND NOT held STREQUAL "${PACKAGES} ${lock}")
  set(omit)
  if(PACKAGES STREQUAL "bundle")
    set(omit --omit=dev)
  endif()
  execute_process(COMMAND ${NPM} ci ${omit} WORKING_DIRECTORY ${FOLDER}
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message("${output}")
    message(FATAL_ERROR "npm could not install the packages that the report's page is made with.\n"
      "hint: they are named in web/package.json and come from the npm registry: is the network up? "
      "Without one, build without the page: cmake -DDFROST_REPORT_PAGE=OFF")
  endif()
  file(WRITE ${memory} "${PACKAGES} ${lock}")
endif()
file(TOUCH ${STAMP})
