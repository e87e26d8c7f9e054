#include "tidemill/tuning/profile/cut_bytes.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace tidemill {

namespace {

// An output or forward of a module's, by their indices.
using SocketPlace = std::pair<std::size_t, std::uint32_t>;

// How often each step works on data of each socket, step after step.
struct SocketReader {
    std::size_t unit;
    double calls_per_frame;
};

class Crossings {
  public:
    Crossings(const Graph& graph, const Structure& structure, const RunReport& report)
        : graph_(graph), structure_(structure), report_(report), bytes_(structure.units.size(), 0) {
        for (std::size_t step = 0; step < structure.order.size(); ++step) list_sockets(step);
        for (const auto& [socket, reader] : readers_) add(socket, reader);
    }

    std::vector<double> take() { return std::move(bytes_); }

  private:
    void list_sockets(std::size_t step) {
        const TaskId id = structure_.order[step].id;
        const auto sockets = graph_.module(id.module).sockets();
        for (std::uint32_t s = 0; s < sockets.size(); ++s) {
            if (sockets[s].task != id.task) continue;
            if (sockets[s].direction != Direction::out) list_reader(step, *graph_.source_of(id.module, s));
            if (sockets[s].direction != Direction::in) producers_[{id.module, s}] = step;
        }
    }

    void list_reader(std::size_t step, const internal::Source& source) {
        if (!source.module) return;
        const TaskReport& task = report_.tasks[step];
        readers_[{graph_.index_of(*source.module), source.socket}].push_back(
            {task.unit, static_cast<double>(task.calls.count) / static_cast<double>(report_.frames)});
    }

    // Behind every unit from the producer's on, as often as the next one to read it runs.
    void add(const SocketPlace& socket, const std::vector<SocketReader>& readers) {
        const std::size_t producer = producers_.at(socket);
        const double bytes =
            static_cast<double>(graph_.module(socket.first).sockets()[socket.second].bytes()) *
            structure_.order[producer].firings;
        std::size_t unit = report_.tasks[producer].unit;
        for (const SocketReader& reader : readers)
            for (; unit < reader.unit; ++unit) bytes_[unit] += bytes * reader.calls_per_frame;
    }

    const Graph& graph_;
    const Structure& structure_;
    const RunReport& report_;
    std::map<SocketPlace, std::size_t> producers_;              // step
    std::map<SocketPlace, std::vector<SocketReader>> readers_;  // in the order of steps
    std::vector<double> bytes_;
};

}  // namespace

std::vector<double> cut_bytes(const Graph& graph, const Structure& structure, const RunReport& report) {
    return Crossings(graph, structure, report).take();
}

}  // namespace tidemill
