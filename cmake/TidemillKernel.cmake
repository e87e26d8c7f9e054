# Kernels for devices: OpenCL C 1.2 in files named *.cl, which the program holds as text and, where clang-19 and
# libclc-19 are there, also as PTX for GPUs of NVIDIA.

find_program(TIDEMILL_KERNEL_COMPILER clang-19)
find_file(TIDEMILL_KERNEL_LIBRARY nvptx64--nvidiacl.bc PATHS /usr/lib/clc NO_DEFAULT_PATH)
if(TIDEMILL_KERNEL_COMPILER AND TIDEMILL_KERNEL_LIBRARY)
  message(STATUS "Kernels for the CUDA driver: PTX by ${TIDEMILL_KERNEL_COMPILER}")
else()
  message(STATUS "Kernels for the CUDA driver: not built (clang-19 and libclc-19 are not both here)")
endif()

# Compiles one text to PTX. Appends what the embedding needs to know to the lists in the caller.
function(tidemill_kernel_ptx text name variant capability)
  string(MAKE_C_IDENTIFIER "${name}_${variant}_${capability}" file)
  set(file "${CMAKE_CURRENT_BINARY_DIR}/${file}.ptx")
  set(target -Xclang -target-cpu -Xclang sm_${capability})
  if(capability LESS 80)
    list(APPEND target -Xclang -target-feature -Xclang +ptx63)
  else()
    list(APPEND target -Xclang -target-feature -Xclang +ptx70 -DPACKED_HALVES)
  endif()
  separate_arguments(macros UNIX_COMMAND "${variant}")
  add_custom_command(OUTPUT "${file}"
    COMMAND "${TIDEMILL_KERNEL_COMPILER}" -x cl -cl-std=CL1.2 -target nvptx64-nvidia-cuda -DTIDEMILL_PTX ${target} ${macros} -O3
      -Wno-linker-warnings -Xclang -mlink-builtin-bitcode -Xclang "${TIDEMILL_KERNEL_LIBRARY}" -S "${text}" -o "${file}"
    DEPENDS "${text}" COMMENT "PTX of ${name} ${variant} for compute capability ${capability}" VERBATIM)
  set(ptx_files ${ptx_files} "${file}" PARENT_SCOPE)
  set(images ${images} "${capability}|${variant}|${file}" PARENT_SCOPE)
endfunction()

# tidemill_kernel(<room> <name> [FILE <file.cl>] [HEADERS <file.h>...] [VARIANTS "<macros>"...])
#
# Gives the room a function tidemill::device::NAME_kernels(), which the room declares in a header of its own.
function(tidemill_kernel room name)
  cmake_parse_arguments(KERNEL "" "FILE" "HEADERS;VARIANTS" ${ARGN})
  if(NOT KERNEL_FILE)
    set(KERNEL_FILE "${name}.cl")
  endif()
  if(NOT KERNEL_VARIANTS)
    set(KERNEL_VARIANTS " ")
  endif()
  set(parts "${PROJECT_SOURCE_DIR}/tidemill/gpu/device/target.h")
  foreach(part IN LISTS KERNEL_HEADERS KERNEL_FILE)
    list(APPEND parts "${CMAKE_CURRENT_SOURCE_DIR}/${part}")
  endforeach()
  set(text "${CMAKE_CURRENT_BINARY_DIR}/${name}_kernels.cl")
  set(source "${CMAKE_CURRENT_BINARY_DIR}/${name}_kernels.cpp")
  set(ptx_files)
  set(images)
  if(TIDEMILL_KERNEL_COMPILER AND TIDEMILL_KERNEL_LIBRARY)
    foreach(variant IN LISTS KERNEL_VARIANTS)
      string(STRIP "${variant}" variant)
      foreach(capability 70 80)
        tidemill_kernel_ptx("${text}" ${name} "${variant}" ${capability})
      endforeach()
    endforeach()
  endif()
  set(script "${PROJECT_SOURCE_DIR}/cmake/embed_kernels.cmake")
  add_custom_command(OUTPUT "${text}" COMMAND "${CMAKE_COMMAND}" -E cat ${parts} > "${text}" DEPENDS ${parts}
    VERBATIM)
  string(REPLACE ";" "\n" image_list "${images}")
  file(GENERATE OUTPUT "${source}.images" CONTENT "${image_list}")
  add_custom_command(OUTPUT "${source}"
    COMMAND "${CMAKE_COMMAND}" -DNAME=${name} "-DTEXT=${text}" "-DIMAGES=${source}.images" "-DOUTPUT=${source}" -P
      "${script}"
    DEPENDS "${text}" ${ptx_files} "${source}.images" "${script}" VERBATIM)
  target_sources(tidemill_${room} PRIVATE "${source}")
endfunction()
