#pragma once

#include "tidemill/runtime/report/run_options.hpp"
#include "tidemill/runtime/stream/knob_book.hpp"

namespace tidemill {

/// Writes knobs that tasks set into a book, where no frame that may have begun is concerned.
class BookTeller final : public internal::KnobTeller {
  public:
    /// Teller for a source frame and those behind it, of which up to `in_flight` may have begun; kEndless:
    /// any number. `numbers` are what tasks see.
    BookTeller(KnobBook& book, std::uint64_t in_flight, FrameNumbers numbers)
        : book_(book), in_flight_(in_flight), numbers_(numbers) {}

    void tell(const KnobSettings& settings, std::uint64_t frame, Tell when) override;

  private:
    KnobBook& book_;
    std::uint64_t in_flight_;
    FrameNumbers numbers_;
};

}  // namespace tidemill
