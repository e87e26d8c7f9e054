# Debian packages, by `./x package`: the program, the shared library, and what programs are built with. CPack finds what
# they depend on by dpkg-shlibdeps.

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_VENDOR "The Tidemill authors")
set(TIDEMILL_CONTACT "The Tidemill authors <packages@tidemill.example>" CACHE STRING "Who answers for the packages")
set(CPACK_PACKAGE_CONTACT "${TIDEMILL_CONTACT}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_COMPONENTS_ALL program library development)
set(CPACK_OUTPUT_FILE_PREFIX "${PROJECT_SOURCE_DIR}/dist")

# Files of Debian's tools for a shared library's package, so that others can depend on it; CPack has scripts
# instead.
set(CPACK_POST_BUILD_SCRIPTS "${PROJECT_SOURCE_DIR}/cmake/without_scripts.cmake")
file(WRITE "${PROJECT_BINARY_DIR}/debian/triggers" "activate-noawait ldconfig\n")
file(WRITE "${PROJECT_BINARY_DIR}/debian/shlibs" "libtidemill 0 libtidemill0 (>= ${PROJECT_VERSION})\n")

function(tidemill_debian_package component name section summary description)
  string(TOUPPER ${component} part)
  set(CPACK_DEBIAN_${part}_PACKAGE_NAME ${name} PARENT_SCOPE)
  set(CPACK_DEBIAN_${part}_PACKAGE_SECTION ${section} PARENT_SCOPE)
  set(CPACK_COMPONENT_${part}_DESCRIPTION "${summary}\n${description}" PARENT_SCOPE)
  # Policy wants a copyright file and a changelog in each package; `./x install` leaves them out.
  set(notes "${PROJECT_BINARY_DIR}/debian/${name}")
  file(MAKE_DIRECTORY "${notes}")
  file(WRITE "${notes}/changelog" "tidemill (${PROJECT_VERSION}) unstable; urgency=medium\n\n  * See the project's history.\n\n"
    " -- ${TIDEMILL_CONTACT}  Thu, 01 Jan 2026 00:00:00 +0000\n")
  execute_process(COMMAND gzip -9nf "${notes}/changelog")
  install(FILES "${notes}/changelog.gz" DESTINATION "share/doc/${name}" COMPONENT ${component}
    EXCLUDE_FROM_ALL)
  install(FILES "${PROJECT_BINARY_DIR}/licences.txt" DESTINATION "share/doc/${name}" RENAME copyright
    COMPONENT ${component} EXCLUDE_FROM_ALL)
endfunction()

tidemill_debian_package(program tidemill science "streaming dataflow programs, and a DVB-S2 receiver"
  "Tidemill schedules and runs streaming dataflow programs on unequal cores.
Its flagship is a DVB-S2 transceiver in software: a recording of a satellite
signal goes in, a transport stream comes out.")
tidemill_debian_package(library libtidemill0 libs "DVB-S2 receiver and transmitter in software, shared library"
  "The receiver and the transmitter of Tidemill for programs in C: samples are
pushed, packets come by callback.")
tidemill_debian_package(development libtidemill-dev libdevel "headers and libraries of Tidemill"
  "Headers, static libraries, and what CMake and pkg-config find, for programs
in C and C++ that are streams, or have a receiver in them.")
if(TARGET tidemill_soapy_loopback)
  list(APPEND CPACK_COMPONENTS_ALL loopback)
  tidemill_debian_package(loopback soapysdr0.8-module-tidemill comm "radio without an antenna, for SoapySDR"
    "What one program sends, another one receives through a channel in software,
or a recording is played: driver=loopback, for every program that uses
SoapySDR.")
endif()

set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA "${PROJECT_BINARY_DIR}/debian/triggers;${PROJECT_BINARY_DIR}/debian/shlibs")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
  "libtidemill0 (= ${PROJECT_VERSION}), libfmt-dev, libhwy-dev, libhwloc-dev, libcpp-httplib-dev, pkgconf")
include(CPack)
