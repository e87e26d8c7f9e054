#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tidemill/apps/reception/reception.hpp"

namespace tidemill::cli {

/// Another way in which the bytes of a recording may be meant, and are received.
struct OtherReading {
    std::uint64_t skipped_bytes = 0;            ///< that belong to no sample
    std::optional<dsp::SampleFormat> format{};  ///< none: as it was read
};

/// Looks for frames in samples that were received in vain: some bytes later, as where a part of a sample was
/// lost or a header stands before them, and in other formats. From sample `first` on, and there only some
/// bytes later. None where nothing comes of that either.
std::optional<OtherReading> find_other_reading(const ReceptionOptions& options, std::uint64_t first = 0);

/// Warning about bytes that were left out at the beginning.
std::string skipped_text(std::uint64_t bytes);

/// Why the end of a recording was not received, where that is a part of a sample that is missing or too much
/// behind `end_s`; empty otherwise. With what receives the rest.
std::string slip_behind(const ReceptionOptions& options, const ReceptionJob& job, double end_s);

}  // namespace tidemill::cli
