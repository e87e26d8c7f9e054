#include "tidemill/runtime/stream/knob_book.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "tidemill/runtime/threads/run_error.hpp"

namespace tidemill {

class KnobBook::Hold {
  public:
    explicit Hold(KnobBook& book)
        : book_(book), claimed_(book.claimed_.fetch_or(kHeld, std::memory_order_acq_rel)) {}
    // pairs with the loads in claim()
    ~Hold() { book_.claimed_.store(claimed_, std::memory_order_release); }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

    std::uint64_t claimed() const { return claimed_; }

  private:
    KnobBook& book_;
    std::uint64_t claimed_;
};

std::shared_ptr<KnobBook> KnobBook::of(Graph& graph) {
    std::shared_ptr<KnobBook>& book = graph.knob_book();
    const bool fits = book && &book->graph_ == &graph && book->graph_size_ == graph.size();
    if (!fits) book = std::make_shared<KnobBook>(graph);
    return book;
}

KnobBook::KnobBook(const Graph& graph)
    : graph_(graph), graph_size_(graph.size()), layout_(knob_layout_of(graph)) {
    auto initial = std::make_unique<KnobTable>(layout_.bytes);
    for (const KnobLayout::Place& place : layout_.places) {
        const KnobInfo& info = *graph.module(place.module).sockets()[place.socket].knob;
        std::copy(info.initial.begin(), info.initial.end(), initial->values.data() + place.offset);
    }
    timeline_.push_back({0, std::move(initial), {}});
}

std::vector<KnobBook::Patch> KnobBook::patches_of(const KnobSettings& settings, std::uint64_t told) const {
    std::vector<Patch> patches;
    for (const KnobSetting& each : settings.settings) {
        const KnobLayout::Place& place = layout_.of(graph_, each.knob);
        check_knob(graph_.module(place.module), place.socket, each.bytes);
        patches.push_back({place.offset, each.bytes, told});
    }
    return patches;
}

void KnobBook::check_open() const {
    if (ended_)
        throw RunError("the stream has ended: set knobs before that, or in the options of the next run()");
}

SetAt KnobBook::set(const KnobSettings& settings) {
    std::vector<Patch> patches = patches_of(settings);
    auto table = std::make_unique<KnobTable>(layout_.bytes);
    const std::lock_guard lock(lock_);
    check_open();
    forget();
    SetAt at{0, false};
    {
        const Hold hold(*this);
        at.frame = std::max(hold.claimed(), settings.from ? settings.from->frame : 0);
        at.late = settings.from && settings.from->frame < hold.claimed();
        enter(at.frame, std::move(patches), std::move(table));
        changes_.fetch_add(1, std::memory_order_relaxed);
    }
    if (listener_) listener_(settings, at.frame);
    return at;
}

KnobBook::Timeline::iterator KnobBook::holding_at(std::uint64_t frame) {
    const auto behind = std::ranges::upper_bound(timeline_, frame, std::ranges::less(),
                                                 [](const Change& c) { return c.from; });
    return std::prev(behind);
}

void KnobBook::tell(const KnobSettings& settings, std::uint64_t teller, std::uint64_t from) {
    std::vector<Patch> patches = patches_of(settings, teller + 1);
    auto table = std::make_unique<KnobTable>(layout_.bytes);
    const std::lock_guard lock(lock_);
    check_open();
    forget();
    const Hold hold(*this);
    if (from < hold.claimed()) {
        throw GraphError(
            fmt::format("a knob is set from frame {} on, but frames before {} have their values "
                        "already: set it farther ahead",
                        from, hold.claimed()));
    }
    check_told_once(from, patches);
    enter(from, std::move(patches), std::move(table));
    changes_.fetch_add(1, std::memory_order_relaxed);
}

// Nobody could say which of two tasks on one frame was the later one.
void KnobBook::check_told_once(std::uint64_t from, const std::vector<Patch>& patches) {
    const auto change = holding_at(from);
    if (change->from != from) return;
    for (const Patch& patch : patches) {
        if (std::ranges::none_of(change->patches, [&](const Patch& p) { return p.contradicts(patch); }))
            continue;
        throw GraphError(fmt::format("frame {} sets a knob to two values for frame {}: set it once a frame",
                                     patch.told - 1, from));
    }
}

// No frame from `from` on has begun, so tables of later changes may still be changed.
void KnobBook::enter(std::uint64_t from, std::vector<Patch> patches, std::unique_ptr<KnobTable> table) {
    auto change = holding_at(from);
    if (change->from != from) {
        copy(*change->table, *table);
        change = timeline_.insert(std::next(change), {from, std::move(table), {}});
    }
    for (Patch& patch : patches) {
        const auto behind = std::ranges::upper_bound(change->patches, patch.told, {}, &Patch::told);
        const auto same =
            std::ranges::find_if(change->patches, [&](const Patch& p) { return p.replaces(patch); });
        if (same != change->patches.end()) {
            same->bytes = std::move(patch.bytes);
        } else {
            change->patches.insert(behind, std::move(patch));
        }
    }
    apply(change->patches, *change->table);
    make_anew(std::next(change));
}

// The tables from `first` on, each from the one before.
void KnobBook::make_anew(Timeline::iterator first) {
    for (auto later = first; later != timeline_.end(); ++later) {
        copy(*std::prev(later)->table, *later->table);
        apply(later->patches, *later->table);
    }
}

void KnobBook::copy(const KnobTable& from, KnobTable& to) const {
    std::memcpy(to.values.data(), from.values.data(), layout_.bytes);
}

void KnobBook::apply(const std::vector<Patch>& patches, const KnobTable& table) {
    for (const Patch& patch : patches)
        std::memcpy(table.values.data() + patch.offset, patch.bytes.data(), patch.bytes.size());
}

// A table that no frame will begin under dies when no token and no thread names it.
void KnobBook::forget() {
    const std::uint64_t oldest = hands_.empty() ? 0 : *std::ranges::min_element(hands_);
    while (timeline_.size() > 1 && timeline_[1].from <= oldest) {
        passed_.push_back(std::move(timeline_.front().table));
        timeline_.pop_front();
    }
    std::erase_if(passed_, [](const auto& table) {
        return table->holders.load(std::memory_order_acquire) == 0;  // pairs with name_knobs()
    });
}

void KnobBook::Beginner::look_up(std::uint64_t frame) {
    const std::lock_guard lock(book_->lock_);
    const auto change = book_->holding_at(frame);
    const auto next = std::next(change);
    if (table_) table_->holders.fetch_sub(1, std::memory_order_release);
    table_ = change->table.get();
    table_->holders.fetch_add(1, std::memory_order_relaxed);
    until_ = next == book_->timeline_.end() ? ~std::uint64_t{0} : next->from;
    seen_ = book_->changes_.load(std::memory_order_relaxed);
    book_->hands_[index_] = frame - std::min(frame, again_);
    book_->forget();
}

void KnobBook::restart() {
    const std::lock_guard lock(lock_);
    const auto last = holding_at(claimed_.load(std::memory_order_relaxed));
    timeline_.erase(timeline_.begin(), last);
    timeline_.front().from = 0;
    forget_told();
    claimed_.store(0, std::memory_order_relaxed);
    ended_ = false;
}

// They were set on frames of the run before.
void KnobBook::forget_told() {
    const auto later = std::next(timeline_.begin());
    for (auto change = later; change != timeline_.end(); ++change)
        std::erase_if(change->patches, [](const Patch& patch) { return patch.told > 0; });
    make_anew(later);
}

// Claims stay where they are: a frame that was claimed, but did not begin, begins under what it was given.
void KnobBook::start(std::uint64_t first_frame, std::size_t beginners) {
    const std::lock_guard lock(lock_);
    for (const Change& change : timeline_) change.table->holders.store(0, std::memory_order_relaxed);
    passed_.clear();
    hands_.assign(beginners, first_frame);
    ended_ = false;
    if (claimed_.load(std::memory_order_relaxed) < first_frame)
        claimed_.store(first_frame, std::memory_order_relaxed);
}

void KnobBook::end() {
    const std::lock_guard lock(lock_);
    ended_ = true;
}

KnobSettings KnobBook::settings_of(const Change& change, bool all) const {
    KnobSettings told;
    for (const KnobLayout::Place& place : layout_.places) {
        const auto sets = [&](const Patch& patch) { return patch.offset == place.offset; };
        if (!all && std::ranges::none_of(change.patches, sets)) continue;
        const std::byte* value = change.table->values.data() + place.offset;
        told.settings.push_back({{&graph_.module(place.module), place.socket}, {value, value + place.bytes}});
    }
    return told;
}

void KnobBook::listen(Listener listener, std::uint64_t first_frame) {
    const std::lock_guard lock(lock_);
    listener_ = std::move(listener);
    if (!listener_) return;
    for (const KnobSettings& each : known_from(first_frame)) listener_(each, each.from->frame);
}

std::vector<KnobSettings> KnobBook::settings_from(std::uint64_t first_frame) {
    const std::lock_guard lock(lock_);
    return known_from(first_frame);
}

std::vector<KnobSettings> KnobBook::known_from(std::uint64_t first_frame) {
    auto change = holding_at(first_frame);
    std::vector<KnobSettings> known{settings_of(*change, /*all=*/true)};
    known.back().from = From{first_frame};
    for (++change; change != timeline_.end(); ++change) {
        known.push_back(settings_of(*change, /*all=*/false));
        known.back().from = From{change->from};
    }
    return known;
}

}  // namespace tidemill
