# One room of the house = one library, one test program and one benchmark program, each made of
# the files that lie in the room's folder: adding a file is all it takes to add it to the build.
# Tests that take long lie in *_slow_test.cpp, a program of its own (ctest label "slow"); those that
# search a model exhaustively in *_model_test.cpp (label "model"). Each *_fuzz.cpp is a program of its own; where
# the address sanitizer watches without Clang's libFuzzer, it runs over its corpus as a test (label "fuzz").

find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(HWY REQUIRED)
pkg_check_modules(hwloc REQUIRED IMPORTED_TARGET hwloc)
if(TIDEMILL_TESTS)
  find_package(doctest REQUIRED)
  find_package(rapidcheck REQUIRED)
endif()
if(TIDEMILL_BENCHMARKS)
  find_package(benchmark REQUIRED)
endif()

# Flags of every target of the project.
add_library(tidemill_build_flags INTERFACE)
target_include_directories(tidemill_build_flags INTERFACE "${PROJECT_SOURCE_DIR}")
target_compile_options(tidemill_build_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual
  $<$<BOOL:${TIDEMILL_WARNINGS_ARE_ERRORS}>:-Werror>
  $<$<CXX_COMPILER_ID:GNU>:-Wno-psabi>
  # GCC's library calls what it has itself deprecated.
  $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>
  # The texts of kernels are long.
  $<$<CXX_COMPILER_ID:Clang>:-Wno-overlength-strings>
  $<$<CXX_COMPILER_ID:Clang>:-Wno-potentially-evaluated-expression>)
# Some kernels keep vectors in arrays and structures, which those of unknown length (SVE, RVV) cannot be in: such
# processors run the NEON variants, or plain code.
target_compile_definitions(tidemill_build_flags INTERFACE
  "HWY_DISABLED_TARGETS=(HWY_SVE|HWY_SVE2|HWY_SVE_256|HWY_SVE2_128|HWY_RVV)")
# Whether a product is rounded before it is added must not depend on the instruction set, nor on where in a block a
# sample stands: what is to be fused says so.
target_compile_options(tidemill_build_flags INTERFACE -ffp-contract=off)
# One set of objects serves programs and shared objects alike; a version script decides at link time what each of the
# latter exports. Calls within one are as direct as in a program: none of our functions is replaced when it is loaded.
# (CMake's own property would compile programs with -fPIE, for which a precompiled header has to be made once more.)
target_compile_options(tidemill_build_flags INTERFACE -fPIC -fno-semantic-interposition)
if(TIDEMILL_SANITIZE)
  target_compile_options(tidemill_build_flags INTERFACE
    -fsanitize=${TIDEMILL_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  # Instrumented code confuses this warning of GCC's, as its manual says.
  target_compile_options(tidemill_build_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  target_link_options(tidemill_build_flags INTERFACE -fsanitize=${TIDEMILL_SANITIZE})
  target_compile_definitions(tidemill_build_flags INTERFACE TIDEMILL_SANITIZED)
endif()

if(TIDEMILL_FUZZERS)
  target_compile_options(tidemill_build_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
# GCC looks for garbage all the time unless a parameter says that there is memory: a tenth of a build.
cmake_host_system_information(RESULT tidemill_memory_mb QUERY TOTAL_PHYSICAL_MEMORY)
if(tidemill_memory_mb GREATER 6000)
  target_compile_options(tidemill_build_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=800000>)
endif()

# Besides, of what no frame passes: the compiler need not try hard.
add_library(tidemill_cold INTERFACE)
target_compile_options(tidemill_cold INTERFACE $<$<NOT:$<CONFIG:Debug>>:-O1>)

include(TidemillPrecompiled)

# A shared object exports what its version script names.
function(tidemill_exports target script)
  target_link_options(${target} PRIVATE "LINKER:--version-script=${script}" LINKER:-Bsymbolic LINKER:--no-undefined
    LINKER:--gc-sections)
  set_target_properties(${target} PROPERTIES LINK_DEPENDS "${script}")
endfunction()

# One test program of a room, run by ctest under a label.
function(tidemill_room_test program label room)
  if(TIDEMILL_TESTS AND ARGN)
    add_executable(${program} ${ARGN})
    target_link_libraries(${program} PRIVATE tidemill_${room} tidemill_testing tidemill_cold)
    target_precompile_headers(${program} REUSE_FROM tidemill_precompiled_tests)
    add_test(NAME ${program} COMMAND ${program})
    set_tests_properties(${program} PROPERTIES LABELS ${label})
    if(label STREQUAL slow)
      set_tests_properties(${program} PROPERTIES COST 100) # begins first, so that none is left alone at the end
    endif()
  endif()
endfunction()

# The tests of a room drive the program, or read the project's data, by tidemill/testing/program.hpp.
function(tidemill_drives_program room)
  foreach(test ${room}_test ${room}_slow_test)
    if(TARGET ${test})
      target_link_libraries(${test} PRIVATE tidemill_test_places)
    endif()
  endforeach()
endfunction()

# A program of its own for each fuzzer: libFuzzer brings its main, or ours goes once through the corpus.
function(tidemill_room_fuzzer source room)
  get_filename_component(program ${source} NAME_WE)
  add_executable(${program} ${source})
  target_link_libraries(${program} PRIVATE tidemill_${room})
  if(TIDEMILL_FUZZERS)
    target_link_options(${program} PRIVATE -fsanitize=fuzzer)
    set_property(GLOBAL APPEND PROPERTY TIDEMILL_FUZZER_PROGRAMS ${program})
  else()
    target_sources(${program} PRIVATE "${PROJECT_SOURCE_DIR}/tidemill/testing/corpus_main.cpp")
    add_test(NAME ${program} COMMAND ${program} "${CMAKE_CURRENT_SOURCE_DIR}/fuzz_corpus/${program}")
    set_tests_properties(${program} PROPERTIES LABELS fuzz)
  endif()
endfunction()

# The files of a room that are compiled as one, as many as TIDEMILL_COMPILE_TOGETHER says, which halves the time of a
# first build. A file that Highway compiles once for each instruction set stays alone.
function(tidemill_compile_together room) # SOURCE...
  set(together)
  foreach(source IN LISTS ARGN)
    file(STRINGS "${source}" per_instruction_set REGEX "^#include <hwy/foreach_target")
    if(per_instruction_set)
      set_source_files_properties("${source}" PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    else()
      list(APPEND together "${source}")
    endif()
  endforeach()
  if(TIDEMILL_COMPILE_TOGETHER GREATER 1)
    set_target_properties(tidemill_${room} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${TIDEMILL_COMPILE_TOGETHER})
    # Included by another, a file looks like a header to GCC, whose types must not have parts of an unnamed namespace.
    target_compile_options(tidemill_${room} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  endif()
  if(TIDEMILL_TESTS AND NOT TIDEMILL_SANITIZE AND NOT CMAKE_CROSSCOMPILING)
    list(TRANSFORM together REPLACE "(.+)" "#include \"\\1\"")
    list(JOIN together "\n" text)
    file(GENERATE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/together.cpp" CONTENT "${text}\n")
    add_test(NAME together_${room} COMMAND ${CMAKE_CXX_COMPILER} -std=c++20 -fsyntax-only -w
      "-I${PROJECT_SOURCE_DIR}" "${CMAKE_CURRENT_BINARY_DIR}/together.cpp")
    set_tests_properties(together_${room} PROPERTIES LABELS lint)
  endif()
endfunction()

# tidemill_room(<name> [COLD] [TOGETHER] [NOT_INSTALLED] [USES <room>...] [LINKS <library>...])
# COLD: no frame passes here.
# TOGETHER: no two of its files use one name in an unnamed namespace, so they may be compiled as one.
# NOT_INSTALLED: programs outside of this project do not link it.
function(tidemill_room name)
  cmake_parse_arguments(ROOM "COLD;TOGETHER;NOT_INSTALLED" "" "USES;LINKS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "*.cpp")
  file(GLOB others RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" "*/CMakeLists.txt")
  foreach(other IN LISTS others)  # rooms of their own within this one
    string(REPLACE "CMakeLists.txt" "" other "${other}")
    list(FILTER sources EXCLUDE REGEX "/tidemill/${name}/${other}")
  endforeach()
  set(tests ${sources})
  set(benchmarks ${sources})
  set(fuzzers ${sources})
  list(FILTER sources EXCLUDE REGEX "_(test|bench|main|fuzz)\\.cpp$")
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  set(slow_tests ${tests})
  set(model_tests ${tests})
  list(FILTER tests EXCLUDE REGEX "_(slow|model)_test\\.cpp$")
  list(FILTER slow_tests INCLUDE REGEX "_slow_test\\.cpp$")
  list(FILTER model_tests INCLUDE REGEX "_model_test\\.cpp$")
  list(FILTER benchmarks INCLUDE REGEX "_bench\\.cpp$")
  list(FILTER fuzzers INCLUDE REGEX "_fuzz\\.cpp$")

  list(TRANSFORM ROOM_USES PREPEND tidemill_)
  # Header-only libraries that only our .cpp files include: users of an installed Tidemill need none of them.
  list(TRANSFORM ROOM_LINKS REPLACE "^(CLI11::CLI11|nlohmann_json::nlohmann_json)$" "$<BUILD_INTERFACE:\\1>")
  if(sources)
    add_library(tidemill_${name} STATIC ${sources})
    if(ROOM_COLD)
      target_link_libraries(tidemill_${name} PRIVATE $<BUILD_INTERFACE:tidemill_cold>)
      target_precompile_headers(tidemill_${name} REUSE_FROM tidemill_precompiled_cold)
    else()
      target_precompile_headers(tidemill_${name} REUSE_FROM tidemill_precompiled)
    endif()
    if(ROOM_TOGETHER)
      tidemill_compile_together(${name} ${sources})
    endif()
    set(scope PUBLIC)
  else()
    add_library(tidemill_${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_link_libraries(tidemill_${name} ${scope}
    $<BUILD_INTERFACE:tidemill_build_flags> ${ROOM_USES} ${ROOM_LINKS} fmt::fmt Threads::Threads)

  set_target_properties(tidemill_${name} PROPERTIES TIDEMILL_NOT_INSTALLED ${ROOM_NOT_INSTALLED})

  tidemill_room_test(${name}_test fast ${name} ${tests})
  tidemill_room_test(${name}_slow_test slow ${name} ${slow_tests})
  tidemill_room_test(${name}_model_test model ${name} ${model_tests})
  if(TIDEMILL_BENCHMARKS AND benchmarks)
    add_executable(${name}_bench ${benchmarks})
    target_link_libraries(${name}_bench PRIVATE tidemill_${name} benchmark::benchmark_main)
  endif()
  if(TIDEMILL_FUZZERS OR (TIDEMILL_TESTS AND TIDEMILL_SANITIZE MATCHES "address"))
    foreach(fuzzer IN LISTS fuzzers)
      tidemill_room_fuzzer(${fuzzer} ${name})
    endforeach()
  endif()
endfunction()
