#include "tidemill/runtime/graph/module.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>

#include <cxxabi.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tidemill/runtime/graph/graph_error.hpp"

namespace tidemill {

std::string internal::plain_type_name(const std::type_info& type) {
    int status = 0;
    const std::unique_ptr<char, void (*)(void*)> text(
        abi::__cxa_demangle(type.name(), nullptr, nullptr, &status), std::free);
    const std::string full = status == 0 ? text.get() : type.name();
    const std::size_t scope = full.substr(0, full.find('<')).rfind("::");
    return scope == std::string::npos ? full : full.substr(scope + 2);
}

std::string SocketInfo::shape() const {
    if (follows && count == 0) return type.name + " x any";
    return fmt::format("{} x {}{}", type.name, varies ? "up to " : "", count);
}

std::vector<std::byte> internal::block_of(const SocketInfo& socket, std::span<const std::byte> elements) {
    std::vector<std::byte> block(socket.bytes());
    if (socket.varies) {
        const auto count = static_cast<std::uint32_t>(elements.size() / socket.type.size);
        std::memcpy(block.data(), &count, sizeof(count));
    }
    std::ranges::copy(elements, block.begin() + (socket.varies ? kElementsAt : 0));
    return block;
}

std::vector<std::byte> internal::default_of(const SocketInfo& socket) {
    std::vector<std::byte> elements = socket.or_else;
    const bool is_one_for_all = elements.size() == socket.type.size && !socket.varies;
    for (std::size_t i = 1; is_one_for_all && i < socket.count; ++i)
        elements.insert(elements.end(), socket.or_else.begin(), socket.or_else.end());
    return block_of(socket, elements);
}

std::span<const std::byte> internal::elements_of(const SocketInfo& socket, const std::byte* block) {
    if (!socket.varies) return {block, socket.bytes()};
    return {block + kElementsAt, elements_in(block) * socket.type.size};
}

namespace {

thread_local bool cloning = false;

}  // namespace

Module::Cloning::Cloning() {
    cloning = true;
}

Module::Cloning::~Cloning() {
    cloning = false;
}

Module::Module(const Module& other)
    : name_(other.name_),
      sockets_(other.sockets_),
      tasks_(other.tasks_),
      tasks_independent_(other.tasks_independent_) {
    if (!other.in_graph_ || cloning) return;
    throw GraphError(fmt::format(
        "a copy of module '{}' is no part of its graph: keep what add() returns by reference, auto&", name_));
}

std::optional<SocketRef> Module::find_socket(std::string_view socket) const {
    for (std::uint32_t i = 0; i < sockets_.size(); ++i) {
        if (sockets_[i].name == socket) return SocketRef{this, i};
    }
    return std::nullopt;
}

SocketRef Module::operator[](std::string_view socket) const {
    if (const auto found = find_socket(socket)) return *found;
    std::vector<std::string> names;
    for (const SocketInfo& each : sockets_) names.push_back(each.name);
    throw GraphError(
        fmt::format("module '{}' has no socket '{}': it has {}", name_, socket, fmt::join(names, ", ")));
}

std::uint32_t Module::narrow(std::size_t count) const {
    if (count == 0 || count > std::numeric_limits<std::uint32_t>::max()) {
        throw GraphError(
            fmt::format("module '{}': a socket of {} elements; give 1 to 2^32 - 1", name_, count));
    }
    return static_cast<std::uint32_t>(count);
}

std::uint32_t Module::declare(std::string name, Direction direction, ElementType type, std::size_t count) {
    sockets_.push_back(
        {std::move(name), direction, std::move(type), count, static_cast<std::uint32_t>(tasks_.size())});
    return static_cast<std::uint32_t>(sockets_.size() - 1);
}

void Module::declare_marks(std::uint32_t index, SocketRef of, bool reads) {
    const auto fits = [&](const SocketInfo& socket) {
        const Direction other = reads ? Direction::out : Direction::in;
        return socket.task == sockets_[index].task && socket.direction != other && !socket.knob &&
               socket.label.empty() && !socket.varies && !socket.follows;
    };
    if (of.module != this || !fits(sockets_[of.index])) {
        throw GraphError(fmt::format("{}: marks are {} of the same task, declared before them, of one count",
                                     path_of_socket(index),
                                     reads ? "read on an input" : "given on an output"));
    }
    sockets_[index].varies = true;
    sockets_[index].marked = of.index;
}

std::uint32_t Module::declare(std::string name, Direction direction, ElementType type, UpTo most) {
    const std::uint32_t index = declare(std::move(name), direction, std::move(type), most.count);
    sockets_[index].varies = true;
    return index;
}

void Module::set_default(std::uint32_t input, std::span<const std::byte> elements) {
    SocketInfo& socket = sockets_[input];
    const std::size_t count = elements.size() / socket.type.size;
    const bool fits = socket.varies ? count <= socket.count : count == socket.count;
    if (count == 0 || (count != 1 && !fits)) {
        const std::string or_more =
            socket.follows ? "" : fmt::format(", or {}{}", socket.varies ? "up to " : "", socket.count);
        throw GraphError(fmt::format("input '{}' ({}): {} values with or_else(); give 1{}", socket.name,
                                     socket.shape(), count, or_more));
    }
    socket.or_else.assign(elements.begin(), elements.end());
}

std::uint32_t Module::declare(std::string name, Direction direction, ElementType type, Any count) {
    const std::uint32_t index = declare(std::move(name), direction, std::move(type), std::size_t{0});
    sockets_[index].follows = true;
    sockets_[index].as = std::move(count.as);
    return index;
}

std::uint32_t Module::declare_knob(std::string name, ElementType type, std::size_t count, KnobInfo info) {
    narrow(count);
    const std::uint32_t index = declare(std::move(name), Direction::in, std::move(type), count);
    sockets_[index].knob = std::make_shared<const KnobInfo>(std::move(info));
    check_knob(*this, index, sockets_[index].knob->initial);
    return index;
}

void Module::check_is_knob(std::uint32_t socket, const ElementType& type, bool single) const {
    const SocketInfo& info = sockets_[socket];
    if (!info.knob) throw GraphError(path_of_socket(socket) + " is no knob: bind data to it");
    if (info.type == type && (info.count == 1 || !single)) return;
    throw GraphError(
        fmt::format("{} is a knob of {}: ask for a Knob of that", path_of_socket(socket), info.shape()));
}

Task Module::control_task(std::string name, internal::ControlKind kind) {
    const auto leave_to_executor = [](Module&, const internal::TaskCode&, Frame) {
        return internal::kControlFlow;
    };
    return declare_task(
        {std::move(name), {.replication = Replication::pure}, leave_to_executor, {}, kind, Basis::word});
}

namespace {

// The places of what is under way are the object's, and a pure task's object serves all threads.
void check_batches(const Module& module, const TaskInfo& info) {
    const auto refuse = [&](const std::string& why) {
        throw GraphError(
            fmt::format("task '{}' of {}: {}", info.name, internal::plain_type_name(typeid(module)), why));
    };
    if (info.options.batch == 0) refuse("batches of 0 frames; give 1 or more");
    if (info.options.in_flight == 0) refuse("0 batches under way at a time; give 1 or more");
    if (info.flight && info.options.replication == Replication::pure)
        refuse(
            "it is pure, so threads would share the places in which its batches are under way; say cloned, "
            "or sequential");
}

}  // namespace

Task Module::declare_task(TaskInfo info) {
    check_batches(*this, info);
    tasks_.push_back(std::move(info));
    return {this, static_cast<std::uint32_t>(tasks_.size() - 1)};
}

}  // namespace tidemill
