#include "tidemill/run/journal/journal.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>

#include <fmt/format.h>

#include "tidemill/graph/identity.hpp"
#include "tidemill/json/json.hpp"
#include "tidemill/run/run_error.hpp"

namespace tidemill {

namespace {

std::unique_ptr<std::ostream> opened(const std::filesystem::path& path) {
    errno = 0;
    auto file = std::make_unique<std::ofstream>(path, std::ios::binary | std::ios::trunc);
    if (!*file)
        throw RunError(fmt::format("{}: cannot open for writing: {}", path.string(), std::strerror(errno)));
    return file;
}

Json value_of(const SocketInfo& knob, const std::vector<std::byte>& bytes) {
    const std::vector<double> numbers = numbers_of(knob, bytes);
    return knob.count == 1 ? Json(numbers.front()) : Json(numbers);
}

}  // namespace

Journal::Journal(const std::filesystem::path& path)
    : file_(opened(path)), to_(*file_), name_(path.string()) {}

Journal::Journal(std::ostream& to) : to_(to), name_("the journal") {}

Journal::~Journal() = default;

void Journal::begin(const Graph& graph, std::uint64_t first_frame) {
    const std::lock_guard lock(mutex_);
    if (next_frame_ && first_frame < *next_frame_)
        throw RunError(fmt::format("{} tells of a run already: give each run() a journal of its own", name_));
    if (!next_frame_) write({{"tidemill_journal", 1}, {"graph", identity_of(graph)}, {"frame", first_frame}});
    next_frame_ = first_frame;
}

void Journal::set(const KnobSettings& settings, std::uint64_t frame) {
    Json values = Json::object();
    for (const KnobSetting& each : settings.settings) {
        const Module& module = *each.knob.module;
        values[module.path_of_socket(each.knob.index)] =
            value_of(module.sockets()[each.knob.index], each.bytes);
    }
    const std::lock_guard lock(mutex_);
    write({{"frame", frame}, {"set", std::move(values)}});
}

void Journal::dropped(std::uint64_t frame, std::uint64_t frames) {
    const std::lock_guard lock(mutex_);
    write({{"frame", frame}, {"dropped", frames}});
}

void Journal::end(std::optional<std::uint64_t> frame) {
    const std::lock_guard lock(mutex_);
    write({{"end", frame ? Json(*frame) : Json("by a task")}});
    to_.flush();
    next_frame_ = frame.value_or(~std::uint64_t{0});
    if (!to_) throw RunError(fmt::format("{}: not all could be written", name_));
}

void Journal::write(const Json& line) {
    to_ << to_text(line) << '\n';
}

}  // namespace tidemill
