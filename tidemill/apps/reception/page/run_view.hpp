#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "tidemill/apps/reception/counted_source.hpp"
#include "tidemill/apps/reception/page/band_tap.hpp"
#include "tidemill/apps/reception/page/page_knobs.hpp"
#include "tidemill/apps/reception/page/work_times.hpp"
#include "tidemill/apps/reception/receivers.hpp"
#include "tidemill/runtime/observe/live_view.hpp"
#include "tidemill/scheduling/static/schedule.hpp"

namespace tidemill::cli {

/// View of a run as a whole, whatever carriers it receives: its graph and stages, its knobs, and the spectrum
/// of the band. Any thread may ask.
class RunView {
  public:
    /// `band`: null where the receiver takes the samples as they are.
    RunView(Receivers& receivers, const CountedSource& samples, BandTap* band);

    /// To be given to the run.
    Observer& observer() { return view_; }
    /// Where more may be looked at.
    LiveView& live() { return view_; }
    PageKnobs& knobs() { return knobs_; }
    const PageKnobs& knobs() const { return knobs_; }
    /// Sets the schedule of the run, for drawings; also when it changes.
    void follow(const Schedule& schedule);

    /// Times since the last step become what is shown; by one thread, like draw().
    void step();
    void draw();

    /// How busy the stages are, of late or all the time.
    Json stages(bool of_all_times) const;
    /// Last spectrum of the band in dB; empty where there is none.
    Json band_db() const;
    double band_rate_hz() const { return band_ ? band_->sample_rate_hz().value_or(0) : 0; }
    /// The graph with its stages, and how busy they are, of late or all the time.
    std::string graph_svg(bool of_all_times) const;

  private:
    mutable std::mutex mutex_;
    Receivers& receivers_;
    const CountedSource& samples_;
    BandTap* band_;
    LiveView view_;
    PageKnobs knobs_;
    std::optional<Schedule> schedule_{};
    WorkTimes times_;
    Json band_db_ = Json::array();
};

}  // namespace tidemill::cli
