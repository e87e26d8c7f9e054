#pragma once

#include <cstddef>
#include <exception>
#include <thread>
#include <vector>

#include "tidemill/apps/reception/reception.hpp"

namespace tidemill::cli {

/// Takes what a radio sends while its samples so far are looked into, so that none of it finds the ring full.
/// It is appended to the beginning when this ends.
class TakenMeanwhile {
  public:
    explicit TakenMeanwhile(ReceptionJob& job);
    TakenMeanwhile(const TakenMeanwhile&) = delete;
    TakenMeanwhile& operator=(const TakenMeanwhile&) = delete;
    ~TakenMeanwhile();

  private:
    void take(const std::stop_token& stop);

    ReceptionJob& job_;
    std::vector<std::byte> taken_{};
    std::jthread thread_;
};

/// Drops the older half of samples that hold no signal, and waits for as many new ones. Returns
/// whether there are any: none at the end of the stream, and where the user wants no more.
bool wait_for_more(const ReceptionOptions& options, ReceptionJob& job);

}  // namespace tidemill::cli
