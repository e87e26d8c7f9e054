#pragma once

#include <cstddef>
#include <vector>

#include "bindings/numpy.hpp"
#include "bindings/python.hpp"

namespace tidemill::python {

/// The arrays that show one socket's elements to Python. A socket has few places, so each array is made once,
/// when its place is first met, and kept for the rest of the run. All of it needs the interpreter's lock.
class SocketViews {
  public:
    /// `shape` multiplies to the elements of the socket. An input's arrays are read-only.
    SocketViews(int numpy_type, std::vector<npy_intp> shape, bool is_input)
        : numpy_type_(numpy_type), shape_(std::move(shape)), is_input_(is_input) {}

    /// The array over that place, which this object owns. One that its task has given another shape, type or
    /// flags is replaced.
    PyObject* at(std::byte* place);

    /// The same for an input that has no data on this frame: an array without elements.
    PyObject* empty();

    /// Bytes of each array that has elements.
    std::size_t bytes() const;

    /// An array of its own memory, with what lies at the place.
    nb::object copy_of(std::byte* place);

    /// Whether somebody else still has the array.
    static bool is_kept(PyObject* array) { return Py_REFCNT(array) > 1; }

    /// Leaves an array to its owners: its place gets another one.
    void give_away(PyObject* array);

  private:
    struct View {
        std::byte* place;
        nb::object array;
    };

    nb::object make(std::byte* place) const;
    bool is_intact(PyObject* array, std::byte* place) const;

    int numpy_type_;
    std::vector<npy_intp> shape_;
    bool is_input_;
    std::vector<View> views_;
    std::size_t next_ = 0;  // tokens go round, so the places come in the same order again
    nb::object empty_{};
};

}  // namespace tidemill::python
