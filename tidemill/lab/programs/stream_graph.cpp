#include "tidemill/lab/programs/stream_graph.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "tidemill/runtime/graph/window.hpp"

namespace tidemill {

using Item = std::uint32_t;

class StreamModules::TypeModule final : public Module {
  public:
    TypeModule(std::string name, const StreamTaskType& type, std::vector<std::size_t> reads,
               std::vector<std::size_t> writes, Pastime pastime)
        : Module(std::move(name)), stateful_(type.stateful), work_us_(type.work_us), pastime_(pastime) {
        for (const std::size_t items : reads)
            inputs.push_back(in<Item>(fmt::format("in{}", inputs.size()), items));
        for (const std::size_t items : writes)
            outputs.push_back(out<Item>(fmt::format("out{}", outputs.size()), items));
        task("fire", &TypeModule::fire,
             {.replication = stateful_ ? Replication::sequential : Replication::cloned});
    }

    std::vector<In<Item>> inputs;
    std::vector<Out<Item>> outputs;

    std::uint64_t digest() const { return digest_; }
    void reset_counters() override { digest_ = 0; }
    void merge(Module& clone) override { digest_ += static_cast<TypeModule&>(clone).digest_; }

  private:
    void fire(Frame f) {
        std::uint64_t value = mixed(f.number(), stateful_ ? state_ : 0);
        for (const In<Item>& input : inputs) {
            for (const Item item : f[input]) value = mixed(value, item);
        }
        value = pass_time(pastime_, work_us_, value);
        state_ = value;
        digest_ += mixed(value, f.number());  // a sum, since clones take frames in any order
        for (const Out<Item>& output : outputs) {
            for (Item& item : f[output]) item = static_cast<Item>(value = mixed(value, output.index));
        }
    }

    bool stateful_;
    double work_us_;
    Pastime pastime_;
    std::uint64_t state_ = 0;
    std::uint64_t digest_ = 0;
};

// Items that are there from the beginning: what is given goes on behind as many older ones.
class StreamModules::Initial final : public Module {
  public:
    Initial(std::string name, std::size_t fresh, std::size_t held)
        : Module(std::move(name)), given(in<Item>("given", fresh)), taken(out<Item>("taken", fresh)) {
        task("pass", &Initial::pass);
        held_.resize(held);
    }

    In<Item> given;
    Out<Item> taken;

  private:
    void pass(Frame f) {
        held_.insert(held_.end(), f[given].begin(), f[given].end());
        const auto end = held_.begin() + std::ssize(f[taken]);
        std::copy(held_.begin(), end, f[taken].begin());
        held_.erase(held_.begin(), end);
    }

    std::vector<Item> held_;
};

StreamModules::StreamModules(const StreamGraph& stream, Pastime pastime) : graph_(stream.name) {
    const std::size_t count = stream.types.size();
    std::vector<std::vector<std::size_t>> reads(count);
    std::vector<std::vector<std::size_t>> writes(count);
    for (const StreamEdge& edge : stream.edges) {
        writes[edge.from].push_back(edge.push);
        reads[edge.to].push_back(std::max(edge.peek, edge.pop));
    }
    std::vector<TypeModule*> modules;
    for (std::size_t k = 0; k < count; ++k) {
        modules.push_back(&graph_.add<TypeModule>(fmt::format("{}:{}", k, stream.types[k].name),
                                                  stream.types[k], reads[k], writes[k], pastime));
    }
    types_.assign(modules.begin(), modules.end());
    std::vector<std::size_t> inputs(count);
    std::vector<std::size_t> outputs(count);
    for (const StreamEdge& edge : stream.edges) {
        const Out<Item>* from = &modules[edge.from]->outputs[outputs[edge.from]++];
        const In<Item>& to = modules[edge.to]->inputs[inputs[edge.to]++];
        const std::string name = to.module->path_of_socket(to.index);
        const std::size_t overlap = to.count - edge.pop;
        if (edge.initial > overlap) {
            auto& initial = graph_.add<Initial>(name + "_initial", edge.pop, edge.initial - overlap);
            graph_.stream(*from, initial.given);
            from = &initial.taken;
        }
        if (overlap > 0) {
            auto& window = graph_.add<Window<Item>>(name + "_window", edge.pop, overlap);
            graph_.stream(*from, window.fresh);
            graph_.bind(window.window, to);
        } else {
            graph_.stream(*from, to);
        }
    }
}

std::uint64_t StreamModules::digest() const {
    std::uint64_t sum = 0;
    for (std::size_t k = 0; k < types_.size(); ++k) sum = mixed(sum, types_[k]->digest());
    return sum;
}

}  // namespace tidemill
