# 64-bit Arm on another machine: Debian's cross compiler, Debian's arm64 libraries unpacked into build/arm-packages (by
# ./x test arm), and qemu's user-mode emulation, which ctest starts the tests with.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)

cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH source)
set(packages "${source}/build/arm-packages")
set(libraries "${packages}/usr/lib/aarch64-linux-gnu")
list(APPEND CMAKE_PREFIX_PATH "${packages}/usr")
set(ENV{PKG_CONFIG_LIBDIR} "${libraries}/pkgconfig:${packages}/usr/share/pkgconfig")
set(ENV{PKG_CONFIG_SYSROOT_DIR} "${packages}")
set(CMAKE_CXX_STANDARD_INCLUDE_DIRECTORIES "${packages}/usr/include/aarch64-linux-gnu")  # hwloc's own configuration
set(CMAKE_EXE_LINKER_FLAGS_INIT "-Wl,-rpath-link,${libraries}")
set(CMAKE_CROSSCOMPILING_EMULATOR
  "qemu-aarch64;-L;/usr/aarch64-linux-gnu;-E;LD_LIBRARY_PATH=${libraries}:/usr/aarch64-linux-gnu/lib")
