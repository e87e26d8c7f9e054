# What `cmake --install` puts under the prefix: the program, one library per room (tidemill::run, ...), all
# of them together as tidemill::tidemill, their public headers, and what find_package(tidemill) needs.

include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

# Adds to the list in variable `name` the internal headers that they include, and those that these include.
function(tidemill_add_needed_internals name)
  set(pending ${${name}})
  set(all ${${name}})
  while(pending)
    list(POP_FRONT pending header)
    file(STRINGS "${PROJECT_SOURCE_DIR}/${header}" includes REGEX "^#include \"tidemill/.*/internal/")
    list(TRANSFORM includes REPLACE "^#include \"(.*)\".*" "\\1")
    list(REMOVE_ITEM includes "" ${all})
    list(APPEND pending ${includes})
    list(APPEND all ${includes})
  endwhile()
  set(${name} ${all} PARENT_SCOPE)
endfunction()

function(tidemill_install_headers room)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/tidemill/${room}/*.hpp")
  list(FILTER headers EXCLUDE REGEX "/internal/")
  if(room STREQUAL "cli")
    # The rest of this room is the program's own, and speaks CLI11.
    set(headers tidemill/cli/app.hpp)
  endif()
  tidemill_add_needed_internals(headers)
  foreach(header IN LISTS headers)
    cmake_path(GET header PARENT_PATH folder)
    install(FILES "${PROJECT_SOURCE_DIR}/${header}" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/${folder}")
  endforeach()
endfunction()

file(GLOB rooms RELATIVE "${PROJECT_SOURCE_DIR}/tidemill" "${PROJECT_SOURCE_DIR}/tidemill/*/CMakeLists.txt")
list(TRANSFORM rooms REPLACE "/CMakeLists.txt" "")
list(REMOVE_ITEM rooms testing)

install(FILES "${PROJECT_SOURCE_DIR}/tidemill/error.hpp" "${PROJECT_SOURCE_DIR}/tidemill/tidemill.hpp"
  "${PROJECT_SOURCE_DIR}/tidemill/dvbs2.hpp" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/tidemill")
add_library(tidemill_everything INTERFACE)
set_target_properties(tidemill_everything PROPERTIES EXPORT_NAME tidemill)
add_custom_target(installable DEPENDS tidemill)
foreach(room IN LISTS rooms)
  set_target_properties(tidemill_${room} PROPERTIES EXPORT_NAME ${room})
  target_include_directories(tidemill_${room} INTERFACE "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
  target_compile_features(tidemill_${room} INTERFACE cxx_std_20)
  target_link_libraries(tidemill_everything INTERFACE tidemill_${room})
  add_dependencies(installable tidemill_${room})
  install(TARGETS tidemill_${room} EXPORT tidemill-targets)
  tidemill_install_headers(${room})
endforeach()
install(TARGETS tidemill_everything EXPORT tidemill-targets)
install(TARGETS tidemill)
if(NOT CMAKE_CROSSCOMPILING)  # the program writes its manual page itself
  install(CODE "set(manuals \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_MANDIR}/man1\")
    file(MAKE_DIRECTORY \"\${manuals}\")
    execute_process(COMMAND \"$<TARGET_FILE:tidemill>\" --manual OUTPUT_FILE \"\${manuals}/tidemill.1\"
      COMMAND_ERROR_IS_FATAL ANY)")
endif()

set(package "${CMAKE_INSTALL_LIBDIR}/cmake/tidemill")
install(EXPORT tidemill-targets NAMESPACE tidemill:: DESTINATION "${package}")
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/tidemill-config.cmake.in"
  "${PROJECT_BINARY_DIR}/tidemill-config.cmake" INSTALL_DESTINATION "${package}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/tidemill-config-version.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/tidemill-config.cmake" "${PROJECT_BINARY_DIR}/tidemill-config-version.cmake"
  DESTINATION "${package}")

if(TIDEMILL_TESTS)
  add_test(NAME install COMMAND "${PROJECT_SOURCE_DIR}/cmake/install_test.sh"
    "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}" "${CMAKE_CXX_COMPILER}" "${TIDEMILL_SANITIZE}")
  set_tests_properties(install PROPERTIES LABELS slow)
endif()
