#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tidemill/runtime/graph/graph.hpp"
#include "tidemill/runtime/report/observer.hpp"
#include "tidemill/runtime/report/report.hpp"

namespace tidemill {

class Durations;

/// Observations of a probe on its socket until now.
struct ProbeReading {
    std::string socket;            ///< "module.socket"
    std::uint64_t frames = 0;      ///< that passed
    std::uint64_t number = 0;      ///< of the last of them, in its segment
    double time_s = 0;             ///< when the last of them passed, since the run began
    double rate_hz = 0;            ///< frames per second, from the first to the last
    DurationReport latency{};      ///< from a source frame's first task to this socket
    ElementType type;              ///< of the socket
    std::vector<std::byte> value;  ///< the last frame's first elements

    /// The value as numbers; throws GraphError when the socket's elements are no T.
    template <class T>
    std::vector<T> values() const {
        check_type(element_type<T>());
        std::vector<T> typed(value.size() / sizeof(T));
        std::memcpy(typed.data(), value.data(), typed.size() * sizeof(T));
        return typed;
    }

  private:
    void check_type(const ElementType& wanted) const;
};

/// Looks at one socket: value, rate, latency and time. May be read from any thread while the run goes on.
class Probe {
  public:
    Probe(std::string socket, ElementType type, std::size_t bytes);
    ~Probe();

    ProbeReading reading() const;

  private:
    friend class Probes;
    void begin_run();
    void pass(const ObservedCall& call, std::span<const std::byte> value);

    mutable std::mutex mutex_;  // replicas pass frames at the same time
    ProbeReading last_;
    std::unique_ptr<Durations> latencies_;
    std::uint64_t run_began_ = 0;
    std::uint64_t first_end_ = 0;
};

/// Probes on sockets of a graph, which they do not change: a schedule stays valid. They cost a lock per frame
/// and socket.
///
///     Probes probes(graph);
///     const Probe& noise = probes.add("demapper.noise_var");
///     pipeline.run({.observers = {&probes}});
///     double rate = noise.reading().rate_hz;
class Probes final : public Observer {
  public:
    explicit Probes(const Graph& graph) : graph_(graph) {}

    /// A probe on "module.socket", an input as its task saw it or an output as it was left; keeps `elements`
    /// of each frame. Throws GraphError naming what there is when the graph has no such socket.
    const Probe& add(std::string_view socket, std::size_t elements = 8);

    void begin_run() override;
    ThreadObserver& watch(const ObservedThread& thread) override;

    /// One line per probe: frames, rate, latency, value.
    std::string table() const;

  private:
    struct Probed {
        std::size_t module;
        std::uint32_t socket;
        std::size_t bytes;
        Probe* probe;
    };

    class Thread final : public ThreadObserver {
      public:
        Thread(const Plan& plan, const Graph& graph, const std::vector<Probed>& probed);
        void called(const ObservedCall& call) override;

      private:
        std::vector<std::vector<Probed>> probed_;  // per step
    };

    const Graph& graph_;
    std::deque<Probe> probes_;  // they never move
    std::vector<Probed> probed_;
    std::deque<Thread> threads_;
};

}  // namespace tidemill
