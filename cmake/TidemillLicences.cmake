# The notices of all whose code is in the program and the libraries, or that comes with them, as one text: for
# `tidemill --licences`, the packages and the wheel. Debian's packages bring theirs; elsewhere they are named.
# Compiled in are what templates and inline functions of these come to; what is only linked is there, too, for
# distributors.
set(TIDEMILL_SHIPPED_PACKAGES libcli11-dev nlohmann-json3-dev libhwy-dev libfmt-dev libhwloc-dev libcpp-httplib-dev
  libssl-dev zlib1g-dev libbrotli-dev libsoapysdr-dev)

file(READ "${PROJECT_SOURCE_DIR}/LICENSE" licences)
string(PREPEND licences "==== tidemill\n\n")
foreach(package IN LISTS TIDEMILL_SHIPPED_PACKAGES)
  string(APPEND licences "\n==== ${package}\n\n")
  set(notice "/usr/share/doc/${package}/copyright")
  if(EXISTS "${notice}")
    file(READ "${notice}" text)
    string(APPEND licences "${text}")
  else()
    string(APPEND licences "Its notices come with it.\n")
  endif()
endforeach()
file(GENERATE OUTPUT "${PROJECT_BINARY_DIR}/licences.txt" CONTENT "${licences}")
