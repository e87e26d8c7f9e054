#include "tidemill/runtime/stream/inlet.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include <fmt/format.h>

#include "tidemill/runtime/graph/graph_error.hpp"
#include "tidemill/runtime/stream/hand_over.hpp"
#include "tidemill/runtime/stream/run_on_this_thread.hpp"
#include "tidemill/runtime/threads/run_error.hpp"

namespace tidemill::internal {

namespace {

using Steady = std::chrono::steady_clock;

/// Measures from the first time that it is asked.
class Patience {
  public:
    /// 0: for ever.
    explicit Patience(std::chrono::milliseconds limit) : limit_(limit) {}

    bool lasts() {
        if (limit_.count() == 0) return true;
        const Steady::time_point now = Steady::now();
        if (!since_) since_ = now;
        return now - *since_ < limit_;
    }

  private:
    std::chrono::milliseconds limit_;
    std::optional<Steady::time_point> since_{};
};

}  // namespace

void throw_no_function() {
    throw GraphError("an inlet or an outlet with an empty function: give one, or leave it out");
}

/// Words that the program's side writes for each frame, on a cache line of its own.
struct alignas(64) InletBase::Filling {
    Token* open = nullptr;   // the frame that is being filled
    std::size_t filled = 0;  // elements of it
    bool closed = false;
};

InletBase::InletBase(std::size_t element_bytes, std::size_t count, const HandOverOptions& options)
    : Module("inlet"),
      element_bytes_(element_bytes),
      count_(count),
      options_(options),
      frames_(std::make_unique<HandOver>(element_bytes * count, options)),
      filling_(std::make_unique<Filling>()) {}

InletBase::~InletBase() = default;

void InletBase::begin(const Run& /*run*/) {
    stop_ = stop_of_this_thread();
    frames_->begin_run(stop_);
}

void InletBase::end() {
    frames_->end_run();
}

void InletBase::reset() {
    frames_ = std::make_unique<HandOver>(element_bytes_ * count_, options_);
    *filling_ = {};
}

std::size_t InletBase::close() {
    if (asks_)
        throw RunError(fmt::format("{}: it asks a function, which ends the stream by saying false", name()));
    if (filling_->closed) return 0;
    filling_->closed = true;
    frames_->close();
    return filling_->filled;
}

Token* InletBase::next_place(bool waits) {
    Token* const token = frames_->to_fill([&] {
        if (waits) frames_->check_may_wait(name() + ".push()");
        return waits && !frames_->is_stopped() && !frames_->is_over_for_good();
    });
    if (token || !(waits || frames_->is_over_for_good())) return token;
    throw RunError(
        fmt::format("{}: the run {}, and {} frames that nobody took wait here; begin another run, or push no "
                    "more",
                    name(), frames_->is_over() ? "has ended" : "was stopped", options_.frames));
}

void InletBase::check_open() const {
    if (asks_)
        throw RunError(fmt::format("{}: it asks a function for its frames; nothing can be pushed", name()));
    if (filling_->closed)
        throw RunError(
            fmt::format("{}: it was closed, so nothing can follow; reset the graph to begin anew", name()));
}

std::span<std::byte> InletBase::room(bool waits) {
    check_open();
    Filling& now = *filling_;
    if (!now.open) now.open = next_place(waits);
    if (!now.open) return {};
    return {now.open->data(0) + now.filled * element_bytes_, (count_ - now.filled) * element_bytes_};
}

void InletBase::fill(std::size_t elements) {
    Filling& now = *filling_;
    const std::size_t room = now.open ? count_ - now.filled : 0;
    if (elements > room)
        throw RunError(
            fmt::format("{}: {} elements are said to be written where there is room for {}; place() says "
                        "how many there may be",
                        name(), elements, room));
    now.filled += elements;
    if (now.filled < count_ || !now.open) return;
    frames_->filled(*now.open);
    now.open = nullptr;
    now.filled = 0;
}

std::size_t InletBase::push_bytes(const std::byte* from, std::size_t elements, bool waits) {
    std::size_t pushed = 0;
    while (pushed < elements) {
        const std::span<std::byte> place = room(waits);
        if (place.empty()) break;
        const std::size_t bytes = std::min(place.size(), (elements - pushed) * element_bytes_);
        std::memcpy(place.data(), from + pushed * element_bytes_, bytes);
        fill(bytes / element_bytes_);
        pushed += bytes / element_bytes_;
    }
    return pushed;
}

// Null when the stream ends: here, by another task, or by its starter.
Token* InletBase::next_frame(const Frame& f) {
    const auto ended = [&] { return stop_.stop_requested() || f.ended(); };
    Patience patience(options_.patience);
    Token* const token = frames_->to_empty([&] { return !ended() && patience.lasts(); });
    if (token || ended() || patience.lasts()) return token;
    throw RunError(
        fmt::format("nothing was pushed for {} ms; push, or close the inlet", options_.patience.count()));
}

Flow InletBase::take(const Frame& f, std::byte* to) {
    Token* const token = next_frame(f);
    if (!token) return Flow::stop;
    std::memcpy(to, token->data(0), count_ * element_bytes_);
    frames_->emptied(*token);
    return Flow::ok;
}

/// The frame that the program is emptying, and those that found no room.
struct alignas(64) OutletBase::Front {
    Token* token = nullptr;
    SpilledFrame spilled{};
    const std::byte* data = nullptr;  // null: there is none
    std::uint64_t number = 0;
    std::size_t taken = 0;      // elements of it
    alignas(64) Spill spill{};  // which the stream's side looks at for each frame
};

OutletBase::OutletBase(std::size_t element_bytes, std::size_t count, const HandOverOptions& options)
    : Module("outlet"),
      element_bytes_(element_bytes),
      count_(count),
      options_(options),
      frames_(std::make_unique<HandOver>(element_bytes * count, options)),
      front_(std::make_unique<Front>()) {}

OutletBase::~OutletBase() = default;

void OutletBase::begin(const Run& /*run*/) {
    frames_->begin_run(stop_of_this_thread());
}

void OutletBase::end() {
    frames_->end_run();
}

void OutletBase::reset() {
    frames_ = std::make_unique<HandOver>(element_bytes_ * count_, options_);
    front_ = std::make_unique<Front>();
}

// Null when the run is to stop, whatever the program does.
Token* OutletBase::next_place(const Frame& f) {
    Patience patience(options_.patience);
    Token* const token = frames_->to_fill([&] { return !f.stopping() && patience.lasts(); });
    if (token || f.stopping() || patience.lasts()) return token;
    throw RunError(fmt::format(
        "{} frames wait, and nobody has pulled one for {} ms; pull them, or give the outlet a function",
        options_.frames, options_.patience.count()));
}

void OutletBase::give(const Frame& f, const std::byte* from) {
    const std::size_t bytes = count_ * element_bytes_;
    Token* const token = front_->spill.holds_some() ? nullptr : next_place(f);
    if (!token) return front_->spill.put(f.number(), {from, bytes});
    std::memcpy(token->data(0), from, bytes);
    token->first_frame = f.number();
    frames_->filled(*token);
}

// Earlier events are asked for first: when the run is over, or has spilled, all that came before is seen.
bool OutletBase::look(bool waits) {
    Front& front = *front_;
    while (!front.data) {
        const bool over = frames_->is_over();
        const bool spilled = front.spill.holds_some();
        front.token = frames_->to_empty([&] {
            if (waits) frames_->check_may_wait(name() + ".pull()");
            return waits && !frames_->is_over() && !front.spill.holds_some();
        });
        if (front.token) {
            front.data = front.token->data(0);
            front.number = front.token->first_frame;
        } else if (spilled && front.spill.take(front.spilled)) {
            front.data = front.spilled.bytes.data();
            front.number = front.spilled.number;
        } else if (!waits || over) {
            return false;
        }
    }
    return true;
}

std::uint64_t OutletBase::frame() {
    return look(false) ? front_->number : kEndless;
}

std::span<const std::byte> OutletBase::view(bool waits) {
    if (tells_) throw RunError(fmt::format("{}: it calls a function; nothing can be pulled", name()));
    if (!look(waits)) return {};
    const std::size_t taken = front_->taken;
    return {front_->data + taken * element_bytes_, (count_ - taken) * element_bytes_};
}

void OutletBase::release(std::size_t elements) {
    Front& front = *front_;
    const std::size_t shown = front.data ? count_ - front.taken : 0;
    if (elements > shown)
        throw RunError(
            fmt::format("{}: {} elements are said to be done with where {} were shown; front() says how "
                        "many there are",
                        name(), elements, shown));
    front.taken += elements;
    if (front.taken < count_ || !front.data) return;
    if (front.token) frames_->emptied(*front.token);
    front.token = nullptr;
    front.data = nullptr;
    front.taken = 0;
}

std::size_t OutletBase::pull_bytes(std::byte* to, std::size_t elements, bool waits) {
    std::size_t pulled = 0;
    while (pulled < elements) {
        const std::span<const std::byte> there = view(waits);
        if (there.empty()) break;
        const std::size_t bytes = std::min(there.size(), (elements - pulled) * element_bytes_);
        std::memcpy(to + pulled * element_bytes_, there.data(), bytes);
        release(bytes / element_bytes_);
        pulled += bytes / element_bytes_;
    }
    return pulled;
}

}  // namespace tidemill::internal
