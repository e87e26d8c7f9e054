#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "tidemill/runtime/graph/structure.hpp"

namespace tidemill::internal {

/// Product of one socket, as it exists in one segment: bytes that live from step to step.
struct Item {
    std::size_t bytes;
    std::uint32_t segment;
    std::uint32_t first;     ///< the step that writes it
    std::uint32_t last;      ///< the last step that reads it
    bool passed_on = false;  ///< by a commute: no forward may change it in place
};

/// An output or forward socket, and its readers.
struct Value {
    std::uint32_t module;
    std::uint32_t socket;
    std::uint32_t producer;              ///< step
    std::uint32_t segment;               ///< where its frames are numbered
    std::vector<std::uint32_t> readers;  ///< steps, ascending
    std::vector<std::size_t> items;      ///< one per segment, from `segment` on
};

/// Calls visit(step, task, socket index, socket) for every socket of every step, in order.
template <class Visit>
void for_each_socket(const Graph& graph, const Structure& structure, Visit visit) {
    for (std::uint32_t at = 0; at < structure.order.size(); ++at) {
        const OrderedTask& task = structure.order[at];
        const auto sockets = graph.module(task.id.module).sockets();
        for (std::uint32_t s = 0; s < sockets.size(); ++s)
            if (sockets[s].task == task.id.task) visit(at, task, s, sockets[s]);
    }
}

/// Role of a step's task in a switch or loop.
ControlKind control_of(const Graph& graph, const Structure& structure, std::uint32_t step);

/// All that is produced in a graph, and from which step to which its bytes live: known from the order alone,
/// before any cut into stages. Values that may share their bytes have the same item.
class Values {
  public:
    Values(const Graph& graph, const Structure& structure);

    const std::vector<Value>& all() const { return values_; }

    const std::vector<Item>& items() const { return items_; }

    /// Product of an output or forward socket.
    const Value& of(std::uint32_t module, std::uint32_t socket) const;

    /// The value that feeds a socket; null for constant data.
    const Value* source_of(std::uint32_t module, std::uint32_t socket) const;

    /// Whether the value lies in bytes that another step wrote.
    bool is_shared(const Value& value) const { return items_[value.items.front()].first != value.producer; }

    /// The step that ends each segment but the last.
    std::uint32_t end_of_segment(std::uint32_t segment) const { return end_of_segment_[segment]; }

  private:
    void list_values();
    void list_readers();
    void make_items(Value& value);
    std::optional<std::size_t> item_to_share(const Value& value) const;
    bool is_commute(std::uint32_t step) const;
    const Value* commuted(std::uint32_t module) const;
    void keep_what_loops_read();

    const Graph& graph_;
    const Structure& structure_;
    std::vector<std::uint32_t> end_of_segment_;
    std::map<std::uint64_t, std::size_t> value_of_;            // by module and socket
    std::map<std::uint32_t, const Region*> region_of_select_;  // by the select's step
    std::vector<Value> values_;
    std::vector<Item> items_;
};

/// A value's item as the tasks of `segment` see it.
inline std::size_t item_in(const Value& value, std::uint32_t segment) {
    return value.items[segment - value.segment];
}

}  // namespace tidemill::internal
