# Files of `cmake --install` under the prefix: the program, one library per house (tidemill::runtime, ...),
# all of them together as tidemill::tidemill, their public headers, and what find_package(tidemill) needs.

include(CMakePackageConfigHelpers)

# Headers for users. Installed is what these reach, and nothing else; cmake/install_test.sh counts it.
set(TIDEMILL_PUBLIC_HEADERS tidemill/tidemill.hpp tidemill/dvbs2.hpp tidemill/runtime/tasks/tasks.hpp)

foreach(variable IN ITEMS PROJECT_SOURCE_DIR CMAKE_INSTALL_INCLUDEDIR TIDEMILL_PUBLIC_HEADERS)
  install(CODE "set(${variable} \"${${variable}}\")")
endforeach()
install(SCRIPT "${PROJECT_SOURCE_DIR}/cmake/install_headers.cmake")

foreach(room IN LISTS rooms)
  get_target_property(private tidemill_${room} TIDEMILL_NOT_INSTALLED)
  if(private)
    list(REMOVE_ITEM rooms ${room})
  endif()
endforeach()

add_custom_target(installable DEPENDS tidemill)
if(TIDEMILL_PYTHON)
  include(TidemillOneLibrary)
else()
  add_library(tidemill_everything INTERFACE)
  set_target_properties(tidemill_everything PROPERTIES EXPORT_NAME tidemill)
  foreach(room IN LISTS rooms)
    set_target_properties(tidemill_${room} PROPERTIES EXPORT_NAME ${room})
    target_include_directories(tidemill_${room} INTERFACE "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
    target_compile_features(tidemill_${room} INTERFACE cxx_std_20)
    target_link_libraries(tidemill_everything INTERFACE tidemill_${room})
    add_dependencies(installable tidemill_${room})
    install(TARGETS tidemill_${room} EXPORT tidemill-targets)
  endforeach()
  install(TARGETS tidemill_everything EXPORT tidemill-targets)
endif()
install(TARGETS tidemill COMPONENT program)
if(TARGET tidemill_soapy_loopback AND NOT TIDEMILL_PYTHON)
  add_dependencies(installable tidemill_soapy_loopback)
endif()
if(NOT CMAKE_CROSSCOMPILING)  # the program writes its manual pages itself
  install(CODE "set(manuals \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_MANDIR}/man1\")
    file(MAKE_DIRECTORY \"\${manuals}\")
    execute_process(COMMAND \"$<TARGET_FILE:tidemill>\" --manuals \"\${manuals}\" COMMAND_ERROR_IS_FATAL ANY)
    file(GLOB pages \"\${manuals}/tidemill*.1\")
    execute_process(COMMAND gzip -9nf \${pages} COMMAND_ERROR_IS_FATAL ANY)" COMPONENT program)
endif()

# Completion of verbs, options and their values, for three shells.
set(shells "${PROJECT_SOURCE_DIR}/cmake/completion")
install(FILES "${shells}/tidemill" DESTINATION share/bash-completion/completions COMPONENT program)
install(FILES "${shells}/_tidemill" DESTINATION share/zsh/vendor-completions COMPONENT program)
install(FILES "${shells}/tidemill.fish" DESTINATION share/fish/vendor_completions.d COMPONENT program)

# For systemd; which prefix the program gets is known only now.
install(CODE "set(program_folder \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}\")
  configure_file(\"${PROJECT_SOURCE_DIR}/cmake/tidemill-rx@.service.in\"
    \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/lib/systemd/system/tidemill-rx@.service\" @ONLY)" COMPONENT program)

set(package "${CMAKE_INSTALL_LIBDIR}/cmake/tidemill")
install(EXPORT tidemill-targets NAMESPACE tidemill:: DESTINATION "${package}")
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/tidemill-config.cmake.in"
  "${PROJECT_BINARY_DIR}/tidemill-config.cmake" INSTALL_DESTINATION "${package}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/tidemill-config-version.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/tidemill-config.cmake" "${PROJECT_BINARY_DIR}/tidemill-config-version.cmake"
  DESTINATION "${package}")

# The C interface: its header, the one for streams that it loads, the shared library and its pkg-config file.
install(FILES "${PROJECT_SOURCE_DIR}/tidemill/c/tidemill.h" "${PROJECT_SOURCE_DIR}/tidemill/c/plugin.h" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/tidemill/c")
if(TARGET tidemill_shared)
  add_dependencies(installable tidemill_shared)
  install(TARGETS tidemill_shared LIBRARY COMPONENT library NAMELINK_COMPONENT development)
  file(RELATIVE_PATH from_pkgconfig_to_prefix "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
  configure_file("${PROJECT_SOURCE_DIR}/cmake/tidemill.pc.in" "${PROJECT_BINARY_DIR}/tidemill.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/tidemill.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endif()

if(TIDEMILL_TESTS)
  add_test(NAME install COMMAND "${PROJECT_SOURCE_DIR}/cmake/install_test.sh"
    "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}" "${CMAKE_CXX_COMPILER}" "${TIDEMILL_SANITIZE}"
    ${TIDEMILL_PUBLIC_HEADERS})
  set_tests_properties(install PROPERTIES LABELS slow)
endif()
