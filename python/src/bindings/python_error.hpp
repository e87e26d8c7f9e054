#pragma once

#include <exception>
#include <memory>
#include <string>

#include "bindings/python.hpp"

namespace tidemill::python {

/// An exception of Python's on its way through C++: may be copied, reported and ended without the
/// interpreter's lock.
class PythonError final : public std::exception {
  public:
    /// The exception that a call of the interpreter's has just raised; needs the lock, as the others do that
    /// make one.
    static PythonError raised();
    explicit PythonError(const nb::python_error& error);
    explicit PythonError(nb::object exception);

    const char* what() const noexcept override { return text_->c_str(); }
    /// The exception, with its traceback; needs the lock.
    nb::object exception() const;
    /// KeyboardInterrupt and SystemExit are wishes, not failures.
    bool is_wish() const;

  private:
    std::shared_ptr<PyObject> exception_;
    std::shared_ptr<std::string> text_;
};

}  // namespace tidemill::python
