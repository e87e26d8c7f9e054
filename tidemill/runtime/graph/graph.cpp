#include "tidemill/runtime/graph/graph.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "tidemill/base/guard.hpp"
#include "tidemill/runtime/graph/internal/counts.hpp"
#include "tidemill/runtime/graph/internal/labels.hpp"
#include "tidemill/runtime/graph/lost_marks.hpp"

namespace tidemill {

namespace {

std::string described(const SocketRef& socket) {
    return fmt::format("{} ({})", socket.module->path_of_socket(socket.index),
                       socket.module->sockets()[socket.index].shape());
}

// A part has no name but those of the modules at its ends.
std::string name_of(const internal::ChainEnds& ends) {
    if (!ends.name.empty()) return ends.name;
    for (const auto& sockets : {ends.inputs, ends.outputs})
        if (!sockets.empty() && sockets.front().module) return sockets.front().module->name();
    return "a part";
}

// "TimingTracker" becomes "timing_tracker".
std::string snake_case(const std::string& camel) {
    std::string name;
    for (const char c : camel) {
        const bool upper = std::isupper(static_cast<unsigned char>(c)) != 0;
        if (upper && !name.empty() && name.back() != '_') name += '_';
        name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    return name;
}

// Per socket, what it has for a source where nothing is bound to it or, of a label, what its readers have.
std::vector<std::unique_ptr<internal::Source>> implied_by(const Module& module) {
    std::vector<std::unique_ptr<internal::Source>> implied(module.sockets().size());
    for (std::uint32_t s = 0; s < module.sockets().size(); ++s) {
        const SocketInfo& socket = module.sockets()[s];
        if (!socket.label.empty())
            implied[s] = std::make_unique<internal::Source>(internal::Source{&module, s, {}});
        if (!socket.or_else.empty() && socket.count > 0)
            implied[s] = std::make_unique<internal::Source>(
                internal::Source{nullptr, 0, internal::default_of(socket)});
    }
    return implied;
}

}  // namespace

std::shared_ptr<LostMarks> internal::GraphStream::none_lost() {
    return std::make_shared<LostMarks>();
}

Named named(std::string name) {
    if (name.empty()) throw GraphError("a module is given an empty name: leave named() out, or give one");
    return {std::move(name)};
}

void Graph::adopt(std::unique_ptr<Module> module, Cloner cloner, internal::StateOfType state) {
    if (module->name_.empty()) module->name_ = snake_case(internal::plain_type_name(typeid(*module)));
    const std::string wanted = module->name_ = prefix_ + module->name_;
    if (const auto taken = names_.find(wanted); taken != names_.end())
        while (names_.contains(module->name_)) module->name_ = fmt::format("{}_{}", wanted, taken->second++);
    std::vector<std::unique_ptr<internal::Source>> sources;
    for (const SocketInfo& socket : module->sockets())
        sources.push_back(socket.knob ? std::make_unique<internal::Source>(
                                            internal::Source{nullptr, 0, socket.knob->initial})
                                      : nullptr);
    auto implied = implied_by(*module);
    check_as(*module);
    enter(*module);
    nodes_.push_back(
        {std::move(module), std::move(cloner), state, std::move(sources), std::move(implied), {}});
    const Module& added = *nodes_.back().module;
    for (std::uint32_t s = 0; s < added.sockets().size(); ++s) {
        const SocketInfo& socket = added.sockets()[s];
        if (socket.count == 0 && !socket.as.empty()) set_count({&added, s}, added.count_of(added[socket.as]));
    }
}

void Graph::enter(Module& module) {
    module.in_graph_ = true;
    module.place_in_graph_ = static_cast<std::uint32_t>(nodes_.size());
    names_.emplace(module.name_, 2);
}

void Graph::check_as(const Module& module) const {
    for (std::uint32_t s = 0; s < module.sockets().size(); ++s) {
        const SocketInfo& socket = module.sockets()[s];
        if (socket.as.empty()) continue;
        const SocketRef other = module[socket.as];
        if (!module.sockets()[other.index].varies) continue;
        throw GraphError(fmt::format("{} is as long as {}, which varies: declare both with upto()",
                                     described({&module, s}), described(other)));
    }
}

Graph::Graph(Graph&& other) noexcept
    : name_(std::move(other.name_)),
      prefix_(std::move(other.prefix_)),
      names_(std::move(other.names_)),
      nodes_(std::move(other.nodes_)),
      stream_(std::move(other.stream_)) {}

Graph& Graph::operator=(Graph&& other) noexcept {
    name_ = std::move(other.name_);
    prefix_ = std::move(other.prefix_);
    names_ = std::move(other.names_);
    nodes_ = std::move(other.nodes_);
    stream_ = std::move(other.stream_);
    return *this;
}

Graph::~Graph() {
    if (stream_ && stream_->is_running) return;
    std::destroy_at(&stream_);
    std::destroy_at(&nodes_);
}

// A count of 0 says nothing.
void Graph::set_count(SocketRef socket, std::size_t count) {
    if (count == 0) return;
    for (const SocketRef& each : internal::open_with(*this, socket)) {
        Node& node = nodes_[index_of(*each.module)];
        SocketInfo& info = node.module->sockets_[each.index];
        info.count = count;
        if (info.or_else.empty()) continue;
        node.implied[each.index] =
            std::make_unique<internal::Source>(internal::Source{nullptr, 0, internal::default_of(info)});
    }
}

// Modules that are pure, or the executor's own, hold nothing.
std::vector<std::string> Graph::names_where(bool internal::StateOfType::*does) const {
    const auto is_pure = [](const TaskInfo& task) {
        return task.options.replication == Replication::pure || task.control != internal::ControlKind::none;
    };
    std::vector<std::string> names;
    for (const Node& node : nodes_) {
        const bool holds = !node.state.holds_nothing && !std::ranges::all_of(node.module->tasks(), is_pure);
        if (holds && !(node.state.*does)) names.push_back(node.module->name());
    }
    return names;
}

std::vector<std::string> Graph::reset() {
    const Running alone(*this, size());
    for (const Node& node : nodes_) node.module->reset();
    stream_->place = {};
    stream_->knobs.reset();
    return names_where(&internal::StateOfType::resets);
}

std::size_t Graph::size() const {
    std::size_t size = nodes_.size();
    for (const Node& node : nodes_) {
        size += static_cast<std::size_t>(std::count_if(node.sources.begin(), node.sources.end(),
                                                       [](const auto& source) { return source != nullptr; }));
    }
    return size;
}

Graph::Running::Running(const Graph& graph, std::size_t size) : stream_(graph.stream_.get()) {
    if (!stream_ || graph.size() != size) {
        throw GraphError(
            fmt::format("graph '{}' has changed since its executor was made, or was moved: make the graph, "
                        "then the executor",
                        graph.name()));
    }
    if (stream_->is_running.exchange(true)) {
        throw GraphError(
            fmt::format("graph '{}' is being run: one executor at a time, or Duplicates", graph.name()));
    }
}

std::size_t Graph::index_of(const Module& module) const {
    const std::uint32_t place = module.place_in_graph_;
    if (place < nodes_.size() && nodes_[place].module.get() == &module) return place;
    throw GraphError(fmt::format("module '{}' is not in graph '{}': add it first", module.name(), name_));
}

void Graph::check_declared(SocketRef socket) {
    if (socket.module) return;
    throw GraphError("a socket that no module has declared: write In<float> x = in<float>(\"x\")");
}

std::unique_ptr<internal::Source>& Graph::free_input(SocketRef input) {
    check_declared(input);
    Node& node = nodes_[index_of(*input.module)];
    if (input.module->sockets()[input.index].direction == Direction::out) {
        throw GraphError(fmt::format("{} is an output: data goes to an input", described(input)));
    }
    if (input.module->sockets()[input.index].knob) {
        throw GraphError(fmt::format(
            "{} is a knob: set() gives it values while the stream runs, bind() nothing", described(input)));
    }
    if (node.sources[input.index]) {
        throw GraphError(fmt::format("{} is bound already: an input has one source", described(input)));
    }
    return node.sources[input.index];
}

std::unique_ptr<internal::Source>& Graph::free_input_for(SocketRef output, SocketRef input) {
    check_declared(output);
    index_of(*output.module);
    const SocketInfo& from = output.module->sockets()[output.index];
    std::unique_ptr<internal::Source>& source = free_input(input);
    const SocketInfo& to = input.module->sockets()[input.index];
    const std::string ends = described(output) + " -> " + described(input);
    if (from.direction == Direction::in) throw GraphError(ends + ": the first is an input; bind an output");
    if (from.type != to.type) throw GraphError(ends + ": types differ; insert a task that converts");
    if (from.marked.has_value() != to.marked.has_value())
        throw GraphError(ends + ": marks go to marks, elements to elements");
    if (from.varies != to.varies)
        throw GraphError(ends + ": frames of one vary in size; declare both with upto(), or neither");
    return source;
}

void Graph::bind(SocketRef output, SocketRef input) {
    std::unique_ptr<internal::Source>& source = free_input_for(output, input);
    const std::size_t given = output.module->count_of(output);
    const std::size_t taken = input.module->count_of(input);
    const bool are_marks = output.module->sockets()[output.index].marked.has_value();
    if (given != taken && given > 0 && taken > 0 && !are_marks) {
        throw GraphError(
            fmt::format("{} -> {}: counts differ; give both the same count, or let one run more "
                        "often than the other with stream()",
                        described(output), described(input)));
    }
    if (given == 0) set_count(output, taken);
    if (taken == 0) set_count(input, given);
    source = std::make_unique<internal::Source>(internal::Source{output.module, output.index, {}});
    nodes_[index_of(*output.module)].readers.push_back(input);
}

void Graph::stream(SocketRef output, SocketRef input) {
    std::unique_ptr<internal::Source>& source = free_input_for(output, input);
    if (output.module->sockets()[output.index].varies) {
        throw GraphError(fmt::format("{} -> {}: how often a task runs must not depend on data; bind them",
                                     described(output), described(input)));
    }
    source = std::make_unique<internal::Source>(
        internal::Source{output.module, output.index, {}, /*streams=*/true});
}

void Graph::check_constant(const ElementType& type, SocketRef input) {
    check_declared(input);
    if (input.module->sockets()[input.index].type == type) return;
    throw GraphError(fmt::format("constant of {} -> {}: types differ", type.name, described(input)));
}

void Graph::bind_constant(std::span<const std::byte> elements, SocketRef input) {
    std::unique_ptr<internal::Source>& source = free_input(input);
    const SocketInfo& info = input.module->sockets()[input.index];
    if (info.count == 0) set_count(input, input.module->narrow(elements.size() / info.type.size));
    const std::size_t room = info.count * info.type.size;
    if (elements.size() > room || (elements.size() < room && !info.varies)) {
        throw GraphError(fmt::format("constant of {} bytes -> {}: give {}{} bytes", elements.size(),
                                     described(input), info.varies ? "up to " : "", room));
    }
    source =
        std::make_unique<internal::Source>(internal::Source{nullptr, 0, internal::block_of(info, elements)});
}

internal::ChainEnds internal::ends_of(const Module& module) {
    const auto sockets_of = [&](std::size_t task, Direction not_this) {
        std::vector<SocketRef> found;
        for (std::uint32_t i = 0; i < module.sockets().size(); ++i) {
            const SocketInfo& info = module.sockets()[i];
            const bool must_be_bound = !info.knob && info.label.empty() && info.or_else.empty();
            if (info.task == task && info.direction != not_this && must_be_bound)
                found.push_back({&module, i});
        }
        return found;
    };
    const std::size_t last = module.tasks().empty() ? 0 : module.tasks().size() - 1;
    return {sockets_of(0, Direction::out), sockets_of(last, Direction::in), module.name()};
}

void Graph::link(const internal::ChainEnds& from, const internal::ChainEnds& to) {
    if (from.outputs.size() != to.inputs.size() || from.outputs.empty()) {
        throw GraphError(fmt::format("chain {} -> {}: {} outputs for {} inputs; bind them one by one",
                                     name_of(from), name_of(to), from.outputs.size(), to.inputs.size()));
    }
    for (std::size_t i = 0; i < from.outputs.size(); ++i) bind(from.outputs[i], to.inputs[i]);
}

const internal::Source* Graph::source_of(std::size_t module, std::uint32_t socket) const {
    const internal::Source* bound = nodes_[module].sources[socket].get();
    const SocketInfo& info = nodes_[module].module->sockets()[socket];
    if (bound || info.direction == Direction::out) return bound;
    if (info.label.empty()) return nodes_[module].implied[socket].get();
    const std::vector<SocketRef> owners = internal::nearest_labels(*this, module, socket);
    if (owners.size() != 1) return nullptr;
    return nodes_[index_of(*owners.front().module)].implied[owners.front().index].get();
}

void Graph::require_clonable(std::size_t module) const {
    const Node& node = nodes_[module];
    if (!node.cloner) {
        throw GraphError(
            fmt::format("module '{}' ({}) cannot be copied, so its tasks cannot be replicated: give it a "
                        "copy constructor, "
                        "or declare its tasks pure or sequential",
                        node.module->name(), internal::plain_type_name(typeid(*node.module))));
    }
}

std::unique_ptr<Module> Graph::clone(std::size_t module) const {
    require_clonable(module);
    const Module& original = *nodes_[module].module;
    const Module::Cloning allowed;
    std::unique_ptr<Module> copy;
    const auto failure = internal::thrown_by([&] {
        copy = nodes_[module].cloner(original);
        copy->reset_counters();
    });
    if (failure) {
        throw GraphError(fmt::format("module '{}' ({}) failed while it was copied: {}", original.name(),
                                     internal::plain_type_name(typeid(original)), message_of(failure)));
    }
    // A socket that is made anew in a copy has no data.
    if (copy->sockets().size() != original.sockets().size() ||
        copy->tasks().size() != original.tasks().size()) {
        throw GraphError(fmt::format(
            "module '{}': its copy constructor declares sockets or tasks anew; let it copy those members",
            original.name()));
    }
    return copy;
}

Graph Graph::duplicate() const {
    Graph copy(name_);
    for (std::size_t m = 0; m < nodes_.size(); ++m) {
        std::unique_ptr<Module> module = clone(m);
        copy.enter(*module);
        auto implied = implied_by(*module);
        copy.nodes_.push_back(
            {std::move(module), nodes_[m].cloner, nodes_[m].state, {}, std::move(implied), {}});
    }
    for (std::size_t m = 0; m < nodes_.size(); ++m) {
        for (const auto& source : nodes_[m].sources) {
            auto& copied =
                copy.nodes_[m].sources.emplace_back(source ? new internal::Source(*source) : nullptr);
            if (source && source->module) copied->module = &copy.module(index_of(*source->module));
        }
        for (const SocketRef& reader : nodes_[m].readers)
            copy.nodes_[m].readers.push_back({&copy.module(index_of(*reader.module)), reader.index});
    }
    return copy;
}

}  // namespace tidemill
