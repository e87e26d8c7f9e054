#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <mutex>
#include <string>
#include <string_view>

#include "tidemill/runtime/report/observer.hpp"

namespace tidemill {

/// Detail of DebugPrint.
struct DebugLimits {
    std::size_t elements = 8;       ///< per socket
    std::uint64_t first_frame = 0;  ///< by the number that the task sees
    std::uint64_t frames = std::numeric_limits<std::uint64_t>::max();
    std::string only{};  ///< tasks whose "module.task" begins with this; empty: all
};

/// Prints every call of a run in words: task, frame, thread, time, flow, and what its sockets hold.
///
///     DebugPrint debug([](std::string_view text) { std::cerr << text; }, {.elements = 4, .frames = 2});
///     Sequence(graph).run({.observers = {&debug}});
class DebugPrint final : public Observer {
  public:
    using Sink = std::function<void(std::string_view text)>;

    /// `sink` gets one call's lines at a time, never from two threads at once.
    explicit DebugPrint(Sink sink, DebugLimits limits = {});

    ThreadObserver& watch(const ObservedThread& thread) override;

  private:
    class Thread final : public ThreadObserver {
      public:
        Thread(DebugPrint& owner, const ObservedThread& thread)
            : owner_(owner), stage_(thread.stage), replica_(thread.replica) {}
        void called(const ObservedCall& call) override;

      private:
        DebugPrint& owner_;
        std::size_t stage_;
        std::size_t replica_;
    };

    bool wanted(const ObservedCall& call) const;
    void tell(const std::string& text);

    Sink sink_;
    DebugLimits limits_;
    std::mutex mutex_;  // of the sink
    std::deque<Thread> threads_;
};

}  // namespace tidemill
