#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "tidemill/apps/reception/page/iq_saver.hpp"
#include "tidemill/apps/reception/page/run_view.hpp"
#include "tidemill/apps/reception/page/rx_views.hpp"

namespace tidemill::cli {

/// All that there is to see of a run: of each carrier, and of what they have in common. What a page, programs
/// and the report get is made here. Any thread may ask.
class RxShow {
  public:
    /// `iq`: null where viewers may save nothing.
    RxShow(Receivers& receivers, const CountedSource& samples, BandTap* band, IqSaver* iq);

    /// A carrier's; before the run.
    void add(const RxStatus& status, const io::TsServices& services, RxLabel place);
    /// Where the band's middle lies, in the terms of carriers' frequencies.
    void place_band(double centre_hz) { band_centre_hz_ = centre_hz; }

    RunView& run() { return run_; }
    const RunView& run() const { return run_; }
    IqSaver* iq() const { return iq_; }
    std::size_t carriers() const { return views_.size(); }

    /// Times are those of the samples: of a recording they decide when to step.
    bool steps_by_samples() const { return samples_.ring() == nullptr; }
    void step(double now_s);
    void draw();

    /// One of the carriers is.
    bool locked() const;
    /// For programs; of several carriers a list.
    std::string status() const;
    std::string metrics(std::size_t viewers) const;
    /// For the page: everything of a carrier as it is now, and of the band.
    std::string event(std::size_t carrier) const;
    /// Values before now.
    std::string history(std::size_t carrier) const;
    /// For a page that shows the whole run.
    std::string whole() const;

  private:
    Json in_common(bool of_all_times) const;

    RunView run_;
    Receivers& receivers_;
    const CountedSource& samples_;
    IqSaver* iq_;
    double band_centre_hz_ = 0;
    std::vector<std::unique_ptr<RxViews>> views_{};
};

}  // namespace tidemill::cli
