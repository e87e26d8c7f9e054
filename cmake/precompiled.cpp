// A library must have a file; what counts of this one are the headers that CMake lays before it.
