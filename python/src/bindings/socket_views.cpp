#include "bindings/socket_views.hpp"

#include <algorithm>
#include <cstring>

#include "bindings/element.hpp"
#include "bindings/lent_memory.hpp"

namespace tidemill::python {

namespace {

constexpr std::size_t kMostViews = 4096;  // of a socket; a task that fires often per frame has many places

PyObject* checked(PyObject* object) {
    if (!object) throw nb::python_error();
    return object;
}

void end_loan_of(PyObject* capsule) {
    give_back(static_cast<std::byte*>(PyCapsule_GetPointer(capsule, nullptr)));
}

}  // namespace

PyObject* SocketViews::at(std::byte* place) {
    for (std::size_t tried = 0; tried < views_.size(); ++tried, ++next_) {
        if (next_ >= views_.size()) next_ = 0;
        View& view = views_[next_];
        if (view.place != place) continue;
        if (!is_intact(view.array.ptr(), place)) view.array = make(place);
        ++next_;
        return view.array.ptr();
    }
    if (views_.size() >= kMostViews) views_.clear();
    next_ = views_.size() + 1;
    return views_.emplace_back(place, make(place)).array.ptr();
}

PyObject* SocketViews::empty() {
    npy_intp none = 0;
    if (!empty_.is_valid()) empty_ = nb::steal(checked(PyArray_SimpleNew(1, &none, numpy_type_)));
    return empty_.ptr();
}

void SocketViews::give_away(PyObject* array) {
    std::erase_if(views_, [&](const View& view) { return view.array.is(array); });
    if (empty_.is(array)) empty_.reset();
}

std::size_t SocketViews::bytes() const {
    std::size_t bytes = element_of(numpy_type_).type.size;
    for (const npy_intp length : shape_) bytes *= static_cast<std::size_t>(length);
    return bytes;
}

nb::object SocketViews::copy_of(std::byte* place) {
    nb::object copy =
        nb::steal(checked(PyArray_SimpleNew(static_cast<int>(shape_.size()), shape_.data(), numpy_type_)));
    std::memcpy(PyArray_DATA(reinterpret_cast<PyArrayObject*>(copy.ptr())), place, bytes());
    return copy;
}

nb::object SocketViews::make(std::byte* place) const {
    const int flags = is_input_ ? NPY_ARRAY_CARRAY_RO : NPY_ARRAY_CARRAY;
    nb::object array = nb::steal(checked(PyArray_New(&PyArray_Type, static_cast<int>(shape_.size()),
                                                     const_cast<npy_intp*>(shape_.data()), numpy_type_,
                                                     nullptr, place, 0, flags, nullptr)));
    lend(place);
    PyObject* const loan = PyCapsule_New(place, nullptr, end_loan_of);
    if (!loan) give_back(place);
    if (PyArray_SetBaseObject(reinterpret_cast<PyArrayObject*>(array.ptr()), checked(loan)) < 0)
        throw nb::python_error();
    return array;
}

bool SocketViews::is_intact(PyObject* object, std::byte* place) const {
    auto* const array = reinterpret_cast<PyArrayObject*>(object);
    return PyArray_BYTES(array) == reinterpret_cast<char*>(place) &&
           PyArray_NDIM(array) == static_cast<int>(shape_.size()) &&
           std::equal(shape_.begin(), shape_.end(), PyArray_DIMS(array)) &&
           PyArray_TYPE(array) == numpy_type_ && PyArray_ISNOTSWAPPED(array) &&
           PyArray_ISWRITEABLE(array) != is_input_ && PyArray_IS_C_CONTIGUOUS(array);
}

}  // namespace tidemill::python
