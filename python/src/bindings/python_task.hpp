#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <thread>
#include <vector>

#include "bindings/python.hpp"
#include "bindings/socket_views.hpp"

#include "tidemill/runtime/graph/module.hpp"

namespace tidemill::python {

/// A socket as Python declares it.
struct PythonSocket {
    std::string name;
    Direction direction;
    int numpy_type;
    std::vector<npy_intp> shape;
    std::string label{};  ///< of one that goes along with the data: its name; else empty
};

/// A number that is turned from outside while the stream runs.
struct PythonKnob {
    std::string name;
    double initial;
    Range range;
};

/// Implementation of a task in Python.
enum class CallForm {
    function,   ///< called with an array for each socket
    generator,  ///< is sent the array, or a tuple of them, at each yield
    items,      ///< an iterator: what it gives is written into the output
};

/// How a task in Python is called, and what it may do.
struct PythonCall {
    nb::object callable;
    CallForm form = CallForm::function;
    bool takes_number = false;  ///< behind arrays and knobs: the frame's number
    bool gets_copies = false;   ///< arrays of their own, which it may keep
};

/// Whether a task's arrays show the frame's own memory. What it keeps is found by counts of references, which
/// say nothing without an interpreter's lock: threads count for themselves, and some references not at all.
#ifdef Py_GIL_DISABLED
inline constexpr bool kLendsArrays = false;
#else
inline constexpr bool kLendsArrays = true;
#endif

/// A module with one task, which Python does. Takes the interpreter's lock, where it has one, once per call.
class PythonTask final : public Module {
  public:
    /// Throws GraphError for elements that no socket carries.
    PythonTask(std::string name, const std::vector<PythonSocket>& sockets,
               const std::vector<PythonKnob>& knobs, TaskOptions options, PythonCall call);
    PythonTask(const PythonTask&) = delete;

    /// A run is over: its places are gone, and nobody is in the task. Needs the lock.
    void forget_views() { callers_.clear(); }
    /// Raises KeyboardInterrupt in the calls that have not come back, at their next step in Python. Needs the
    /// lock.
    void interrupt();

  private:
    struct Place {
        std::uint32_t index;
        bool is_input;
    };

    /// State with which one thread calls. Only tasks that several threads may be in have several.
    struct Caller {
        std::thread::id thread;
        unsigned long in_call = 0;  // Python's number of the thread, while it is in the function
        bool is_interrupted = false;
        std::vector<SocketViews> views{};
        std::vector<PyObject*> arguments{};  // the first place is left to the call itself
        std::vector<nb::object> copies{};    // where arrays are copies
        std::vector<nb::object> numbers{};   // of knobs, and the frame's
    };

    class InCall;

    std::uint32_t declare(const PythonSocket& socket);
    template <class T>
    std::uint32_t declare_of(const PythonSocket& socket);
    Caller& caller_here();
    Caller& enter();
    void leave(Caller& caller);
    std::byte* place_of(Frame frame, const Place& socket) const;

    Flow run(Frame frame);
    Flow call(Frame frame, Caller& caller);
    void give_numbers(Frame frame, Caller& caller) const;
    void lend_arrays(Frame frame, Caller& caller);
    void lend_copies(Frame frame, Caller& caller);
    void bring_back(Frame frame, Caller& caller) const;
    Flow call_function(Frame frame, Caller& caller);
    Flow send_arrays(const Caller& caller);
    Flow write_item(const Caller& caller);
    Flow flow_of(nb::object result, const Caller& caller) const;
    void check_nothing_kept(Caller& caller) const;
    [[noreturn]] void throw_kept(std::size_t socket) const;
    std::size_t kept(PyObject* array) const;

    std::vector<PythonSocket> sockets_;
    std::vector<Place> places_;
    std::vector<Knob<double>> knobs_;
    PythonCall call_;
    bool is_shared_;
    nb::ft_mutex callers_mutex_;  // does nothing where the interpreter has a lock
    std::deque<Caller> callers_;  // they never move
};

}  // namespace tidemill::python
