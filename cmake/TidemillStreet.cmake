# Houses beside the street (tools/street.txt) that a build may go without. Until their files stand in folders of their
# own, their places are read from there.

option(TIDEMILL_LAB "Build the laboratory: simulators, the papers' programs and figures, benchmarks' verbs" ON)
option(TIDEMILL_STEER "Build what puts threads of other programs on their kinds of cores" ON)
option(TIDEMILL_GPU "Build devices: GPUs and the like" ON)
if(TIDEMILL_LAB AND NOT (TIDEMILL_GPU AND TIDEMILL_STEER))
  message(FATAL_ERROR "TIDEMILL_LAB measures devices and the layer that steers: leave it out, too, or neither of them")
endif()

set(tidemill_street "${PROJECT_SOURCE_DIR}/tools/street.txt")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${tidemill_street}")

set(tidemill_left_out)  # places of houses that are not built,
set(tidemill_kept)      # and all others
if(NOT TIDEMILL_LAB OR NOT TIDEMILL_STEER OR NOT TIDEMILL_GPU)
  file(STRINGS "${tidemill_street}" tidemill_lines REGEX "^(house|beside|main) ")
  foreach(line IN LISTS tidemill_lines)
    string(REGEX MATCHALL "[^ ]+" words "${line}")
    list(POP_FRONT words kind house)
    string(TOUPPER "TIDEMILL_${house}" wanted)
    if(kind STREQUAL beside AND DEFINED ${wanted} AND NOT ${wanted})
      list(APPEND tidemill_left_out ${words})
    else()
      list(APPEND tidemill_kept ${words})
    endif()
  endforeach()
endif()

# Sets an expression for the files of places: in that folder, or whose names begin so.
function(tidemill_files_of result) # PLACE...
  list(JOIN ARGN "|" places)
  string(REPLACE "." "\\." places "${places}")
  set(${result} "^${PROJECT_SOURCE_DIR}/(${places})(/.*|[^/]*)$" PARENT_SCOPE)
endfunction()

# The inner one counts where places lie within one another.
set(tidemill_kept_within)
foreach(place IN LISTS tidemill_kept)
  foreach(outer IN LISTS tidemill_left_out)
    string(FIND "${place}" "${outer}" at)
    if(at EQUAL 0)
      list(APPEND tidemill_kept_within "${place}")
    endif()
  endforeach()
endforeach()

# Takes files of houses that are not built out of a list.
function(tidemill_leave_out list_name)
  if(NOT tidemill_left_out)
    return()
  endif()
  tidemill_files_of(left_out ${tidemill_left_out})
  tidemill_files_of(kept_within ${tidemill_kept_within})
  set(files ${${list_name}})
  set(back ${files})
  list(FILTER files EXCLUDE REGEX "${left_out}")
  list(FILTER back INCLUDE REGEX "${kept_within}")
  set(${list_name} ${files} ${back} PARENT_SCOPE)
endfunction()

# Takes rooms of which nothing would be left out of a list.
function(tidemill_leave_out_rooms list_name)
  set(left)
  foreach(room IN LISTS ${list_name})
    file(GLOB_RECURSE files "${PROJECT_SOURCE_DIR}/tidemill/${room}/*.[ch]pp")
    tidemill_leave_out(files)
    if(files)
      list(APPEND left ${room})
    endif()
  endforeach()
  set(${list_name} ${left} PARENT_SCOPE)
endfunction()
