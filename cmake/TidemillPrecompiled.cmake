# Most of what a file costs to compile is the standard library and fmt, read again for each. They are read once for all
# rooms, and once more with doctest and RapidCheck for all tests. Nothing may depend on it: Clang, Arm and ./x lint
# build without, so each file still includes what it uses.

# An IDE or CMAKE_DISABLE_PRECOMPILE_HEADERS=ON goes without, too. GCC refuses what was made with other flags, so there
# are two for rooms, as hot and cold ones have other flags.
set(TIDEMILL_PRECOMPILED
  <algorithm> <array> <atomic> <charconv> <chrono> <cmath> <cstddef> <cstdint> <cstring> <deque> <filesystem> <fstream>
  <functional> <limits> <map> <memory> <mutex> <numeric> <optional> <span> <stdexcept> <string> <string_view> <thread>
  <utility> <variant> <vector> <fmt/format.h>)

# A target that holds these headers, for others to REUSE_FROM.
function(tidemill_precompile target libraries) # HEADER...
  add_library(${target} OBJECT "${PROJECT_SOURCE_DIR}/cmake/precompiled.cpp")
  target_link_libraries(${target} PRIVATE tidemill_build_flags fmt::fmt Threads::Threads ${libraries})
  target_precompile_headers(${target} PRIVATE ${ARGN})
endfunction()

tidemill_precompile(tidemill_precompiled "" ${TIDEMILL_PRECOMPILED})
tidemill_precompile(tidemill_precompiled_cold tidemill_cold ${TIDEMILL_PRECOMPILED})
if(TIDEMILL_TESTS)
  tidemill_precompile(tidemill_precompiled_tests "tidemill_cold;doctest::doctest;rapidcheck"
    ${TIDEMILL_PRECOMPILED} <doctest/doctest.h> <rapidcheck.h>)
endif()
