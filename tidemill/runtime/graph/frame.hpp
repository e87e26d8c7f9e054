#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "tidemill/runtime/graph/elements.hpp"
#include "tidemill/runtime/graph/knob.hpp"
#include "tidemill/runtime/graph/socket.hpp"

namespace tidemill {

/// A count of frames that has no end, and the number of a frame that never comes.
inline constexpr std::uint64_t kEndless = std::numeric_limits<std::uint64_t>::max();

namespace internal {

/// Where a socket's bytes can lie while a task runs.
enum class Base : std::uint32_t {
    token,       ///< travels with the frame from stage to stage
    next_token,  ///< the frame of the next segment that a segment's last task fills
    scratch,     ///< the thread's own, for what lives and dies inside a stage
    constant,    ///< bound data that never changes
    knobs,       ///< the values of knobs under which the frame began
    absent,      ///< nowhere: an input that has no data on this frame
};
inline constexpr std::size_t kBases = 5;  // that have bytes

/// A socket's bytes, relative to one of the bases.
struct Address {
    Base base;
    std::uint32_t offset;
};

/// Where all sockets of a module lie. In front of that, where counts follow from bindings, stand these, each
/// as far before as its socket's address is behind.
class AddressTable {
  public:
    explicit AddressTable(std::span<const SocketInfo> sockets)
        : first_(std::ranges::any_of(sockets, &SocketInfo::follows) ? sockets.size() : 0),
          all_(first_ + sockets.size(), Address{Base::constant, 0}) {
        for (std::size_t s = 0; s < first_; ++s)
            all_[first_ - 1 - s].offset = static_cast<std::uint32_t>(sockets[s].count);
    }

    Address& operator[](std::size_t socket) { return all_[first_ + socket]; }
    const Address& operator[](std::size_t socket) const { return all_[first_ + socket]; }
    const Address* data() const { return all_.data() + first_; }

  private:
    std::size_t first_;
    std::vector<Address> all_;
};

/// Common data of all tasks that run on one frame.
struct FrameContext {
    std::array<std::byte*, kBases> bases{};
    std::uint64_t number = 0;
    const std::atomic<bool>* stopping = nullptr;
    // The first frame of the segment that will not be, and the one that runs; null where nobody else can end
    // the stream while a task waits.
    const std::atomic<std::uint64_t>* end = nullptr;
    const std::uint64_t* place = nullptr;
    KnobTeller* teller = nullptr;  ///< null where knobs cannot be set
    bool at_end = false;
    std::uint32_t firings = 1;                     ///< per frame, of the task; the number counts them
    std::uint32_t firing = 0;                      ///< of them
    const std::uint32_t* owner_firings = nullptr;  ///< where there are several, per socket, of labels
};

}  // namespace internal

/// A running task's view of the frame it works on; cheap to pass by value.
class Frame {
  public:
    Frame(const internal::FrameContext& context, const internal::Address* addresses)
        : context_(&context), addresses_(addresses) {}

    /// Without elements at the stream's end.
    template <class T>
    std::span<const T> operator[](const In<T>& socket) const {
        if (addresses_[socket.index].base == internal::Base::absent) return {};
        return {reinterpret_cast<const T*>(bytes(socket.index)), socket.count};
    }
    template <class T>
    std::span<T> operator[](const Out<T>& socket) const {
        return {reinterpret_cast<T*>(bytes(socket.index)), socket.count};
    }
    template <class T>
    std::span<T> operator[](const Forward<T>& socket) const {
        return {reinterpret_cast<T*>(bytes(socket.index)), socket.count};
    }

    /// As many elements as the frame holds; none at the stream's end.
    template <class T>
    std::span<const T> operator[](const InUpTo<T>& socket) const {
        if (addresses_[socket.index].base == internal::Base::absent) return {};
        const std::byte* block = bytes(socket.index);
        return {reinterpret_cast<const T*>(block + internal::kElementsAt), internal::elements_in(block)};
    }
    template <class T>
    Elements<T> operator[](const OutUpTo<T>& socket) const {
        return {bytes(socket.index), socket.count};
    }
    template <class T>
    Elements<T> operator[](const ForwardUpTo<T>& socket) const {
        return {bytes(socket.index), socket.count};
    }

    /// As many elements as a binding has said.
    template <class T>
    std::span<const T> operator[](const InAny<T>& socket) const {
        if (addresses_[socket.index].base == internal::Base::absent) return {};
        return {reinterpret_cast<const T*>(bytes(socket.index)), count(socket.index)};
    }
    template <class T>
    std::span<T> operator[](const OutAny<T>& socket) const {
        return {reinterpret_cast<T*>(bytes(socket.index)), count(socket.index)};
    }
    template <class T>
    std::span<T> operator[](const ForwardAny<T>& socket) const {
        return {reinterpret_cast<T*>(bytes(socket.index)), count(socket.index)};
    }

    /// At the stream's end, a label that is read is a `T{}`.
    template <class T>
    T& operator[](const Label<T>& label) const {
        if constexpr (std::is_const_v<T>) {
            if (addresses_[label.index].base == internal::Base::absent) {
                static const std::remove_const_t<T> kNone{};
                return kNone;
            }
        }
        return *reinterpret_cast<T*>(bytes(label.index));
    }

    /// How far behind the first element to which a label that is read belongs this call's first element lies,
    /// in calls of this task: so many times a socket's count are elements. Not nothing only at rates.
    template <class T>
    ElementPosition offset(const Label<const T>& label) const {
        if (context_->firings == 1) return {};
        const std::uint64_t owner = context_->owner_firings[label.index];
        return scaled(ElementPosition{std::uint64_t{context_->firing} * owner % context_->firings}, 1, owner);
    }

    /// The marks on the elements that this call is given; none at the stream's end.
    template <class T>
    auto operator[](const Marks<T>& marks) const {
        using Plain = std::remove_const_t<T>;
        if constexpr (std::is_const_v<T>) {
            if (addresses_[marks.index].base == internal::Base::absent) return std::span<const Mark<Plain>>();
            const Elements<Mark<Plain>> given(bytes(marks.index), marks.count);
            return std::span<const Mark<Plain>>(given);
        } else {
            return MarkList<Plain>(bytes(marks.index), marks.count, marks.elements);
        }
    }

    /// The value under which the frame's first ancestor began.
    template <class T>
    const T& operator[](const Knob<T>& knob) const {
        return *reinterpret_cast<const T*>(bytes(knob.index));
    }
    template <class T>
    std::span<const T> operator[](const Knob<std::vector<T>>& knob) const {
        return {reinterpret_cast<const T*>(bytes(knob.index)), knob.count};
    }

    /// The frame's number in its segment: the same for the same data under every executor.
    std::uint64_t number() const { return context_->number; }

    /// True when this is a frame behind the stream's last one, which only a task with the word at_end is
    /// given.
    bool at_end() const { return context_->at_end; }

    /// True when the run is to end: a task that blocks (a radio, a pipe) returns soon after.
    bool stopping() const {
        return context_->stopping && context_->stopping->load(std::memory_order_relaxed);
    }

    /// True when another task has ended the stream before this frame, while this one waits for its input: it
    /// returns Flow::stop soon.
    bool ended() const {
        return context_->end && *context_->place >= context_->end->load(std::memory_order_relaxed);
    }

    /// Sets a knob, usually one of a task before, from a later frame on: `f.tell(gain, 2.0f, {.after = 8})`
    /// holds 8 frames behind this one, under every executor, and over what set() gives for that frame. Throws
    /// GraphError where more than `after` frames may be in flight, for what is no value of the knob, and
    /// behind a task that skips or repeats, whose frames are others.
    template <class T>
    void tell(const Knob<T>& knob, const std::type_identity_t<T>& value, Tell when) const {
        tell(KnobSettings(knob, value), when);
    }

    /// For executors: what this frame's tasks have in common.
    const internal::FrameContext& context() const { return *context_; }
    /// The same: where the sockets of its module lie.
    const internal::Address* addresses() const { return addresses_; }

  private:
    void tell(const KnobSettings& settings, Tell when) const;
    std::byte* bytes(std::uint32_t socket) const {
        const internal::Address address = addresses_[socket];
        return context_->bases[static_cast<std::size_t>(address.base)] + address.offset;
    }

    std::uint32_t count(std::uint32_t socket) const {
        return addresses_[-1 - static_cast<std::ptrdiff_t>(socket)].offset;
    }

    const internal::FrameContext* context_;
    const internal::Address* addresses_;  // of all sockets of the task's module
};

/// A running task's view of several frames at once, in order; cheap to pass by value. Numbers may have gaps:
/// frames that have ended as holes are left out. How many there are is the executor's choice, and must not
/// change what a frame becomes.
class Batch {
  public:
    Batch(std::span<const internal::FrameContext> contexts, const internal::Address* addresses)
        : contexts_(contexts), addresses_(addresses) {}

    /// At least 1, and at most as many as the task takes.
    std::size_t size() const { return contexts_.size(); }
    Frame operator[](std::size_t index) const { return {contexts_[index], addresses_}; }

  private:
    std::span<const internal::FrameContext> contexts_;
    const internal::Address* addresses_;
};

}  // namespace tidemill
