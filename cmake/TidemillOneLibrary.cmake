# In the wheel all rooms are one shared library, libtidemill_rooms.so, for the module, the program, and for
# builds in C++ with what is in the package: tidemill::tidemill, and by its old names each room
# (tidemill-config.cmake).

add_library(tidemill_rooms SHARED)
foreach(room IN LISTS rooms)
  get_target_property(type tidemill_${room} TYPE)
  if(type STREQUAL STATIC_LIBRARY)
    target_sources(tidemill_rooms PRIVATE $<TARGET_OBJECTS:tidemill_${room}>)
  endif()
  target_link_libraries(tidemill_rooms PRIVATE tidemill_${room})  # for what each needs of others
endforeach()
tidemill_exports(tidemill_rooms "${CMAKE_CURRENT_LIST_DIR}/rooms.map")
set_target_properties(tidemill_rooms PROPERTIES EXPORT_NAME tidemill)
target_include_directories(tidemill_rooms INTERFACE "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
target_compile_features(tidemill_rooms INTERFACE cxx_std_20)
target_link_libraries(tidemill_rooms INTERFACE $<BUILD_INTERFACE:tidemill_build_flags> fmt::fmt Threads::Threads)

add_dependencies(installable tidemill_rooms)
install(TARGETS tidemill_rooms EXPORT tidemill-targets)
