#include "tidemill/runtime/graph/knob.hpp"

#include <cmath>

#include <fmt/format.h>

#include "tidemill/runtime/graph/graph_error.hpp"
#include "tidemill/runtime/graph/module.hpp"

namespace tidemill {

namespace {

void check_length(const Module& module, std::uint32_t socket, std::size_t given) {
    const std::size_t count = module.sockets()[socket].count;
    if (given == count) return;
    throw GraphError(fmt::format("{}: {} numbers for a knob of {}; give {}", module.path_of_socket(socket),
                                 given, count, count));
}

void check_number(const Module& module, std::uint32_t socket, double number) {
    const auto& [least, most] = module.sockets()[socket].knob->range;
    if (!std::isfinite(number)) {
        throw GraphError(
            fmt::format("{}: a knob cannot be {}; give a number", module.path_of_socket(socket), number));
    }
    if (number < least || number > most) {
        throw GraphError(fmt::format("{}: {} is out of its range; give {} to {}",
                                     module.path_of_socket(socket), number, least, most));
    }
}

}  // namespace

std::vector<double> numbers_of(const SocketInfo& knob, std::span<const std::byte> bytes) {
    std::vector<double> numbers;
    for (std::size_t at = 0; at < bytes.size(); at += knob.type.size)
        numbers.push_back(knob.knob->number(bytes.data() + at));
    return numbers;
}

void check_knob(const Module& module, std::uint32_t socket, std::span<const std::byte> bytes) {
    const SocketInfo& info = module.sockets()[socket];
    check_length(module, socket, bytes.size() / info.type.size);
    for (std::size_t at = 0; at < bytes.size(); at += info.type.size)
        check_number(module, socket, info.knob->number(bytes.data() + at));
}

std::vector<std::byte> bytes_of_numbers(const Module& module, std::uint32_t socket,
                                        std::span<const double> numbers) {
    const SocketInfo& info = module.sockets()[socket];
    check_length(module, socket, numbers.size());
    std::vector<std::byte> bytes(info.bytes());
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        check_number(module, socket, numbers[i]);
        if (info.knob->write(numbers[i], bytes.data() + i * info.type.size)) continue;
        throw GraphError(fmt::format("{}: {} is no {}; give one", module.path_of_socket(socket), numbers[i],
                                     info.type.name));
    }
    // A number may round to one that is out of range, or to none.
    check_knob(module, socket, bytes);
    return bytes;
}

void Frame::tell(const KnobSettings& settings, Tell when) const {
    if (!context_->teller) {
        throw GraphError(
            "no knob can be set from here: behind a task that skips or repeats, at the stream's end, and "
            "where "
            "late frames are dropped, nobody knows which frame comes so many behind; set() it from outside");
    }
    context_->teller->tell(settings, context_->number / context_->firings, when);
}

}  // namespace tidemill
