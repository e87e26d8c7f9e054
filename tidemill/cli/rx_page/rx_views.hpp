#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "tidemill/cli/rx/counted_source.hpp"
#include "tidemill/cli/rx/rx_status.hpp"
#include "tidemill/cli/rx_page/page_knobs.hpp"
#include "tidemill/cli/rx_page/rx_history.hpp"
#include "tidemill/dvbs2/receiver/eye_view.hpp"
#include "tidemill/dvbs2/receiver/receiver.hpp"
#include "tidemill/io/ts_services.hpp"
#include "tidemill/run/insight/live_view.hpp"
#include "tidemill/schedule/schedule.hpp"

namespace tidemill::cli {

/// What a reception is called, and where its samples lie.
struct RxPlace {
    std::string name;
    double tuned_hz = 0;  ///< where the receiver's samples were taken from, as it tells frequencies
    double rolloff = 0.20;
    std::string player{};   ///< what a player opens; empty: nothing is sent to one
    bool can_save = false;  ///< samples, when a viewer wants some
};

/// Spectra of a whole reception, the newest last: of a bounded number, as far apart as that takes.
class Waterfall {
  public:
    static constexpr std::size_t kMostRows = 240;

    void add(const Json& row);
    const Json::Array& rows() const { return rows_; }

  private:
    Json::Array rows_{};
    std::size_t every_ = 1;
    std::size_t seen_ = 0;
};

/// All that there is to see of a running reception, as JSON. Any thread may ask.
class RxViews {
  public:
    RxViews(dvbs2::Receiver& receiver, const RxStatus& status, const CountedSource& samples,
            const io::TsServices& services, RxPlace place);

    /// To be given to the run.
    Observer& observer() { return view_; }
    PageKnobs& knobs() { return knobs_; }
    /// Of the run, for drawings; also when it changes.
    void follow(const Schedule& schedule);

    /// Twice a second: what is told in numbers moves on.
    void step(double now_s);
    /// Some times a second, when somebody looks: what is drawn moves on.
    void draw();

    bool locked() const;
    /// For programs.
    std::string status() const;
    std::string metrics(std::size_t viewers) const;
    /// For the page: everything as it is now.
    std::string event() const;
    /// What was before.
    std::string history() const;
    /// The graph with its stages, and how busy they are.
    std::string graph_svg() const;
    /// For a page that shows the whole run.
    Json whole() const;

  private:
    struct Rate {
        std::uint64_t packets = 0;
        double kbps = 0;
    };

    Json pictures() const;
    Json constellation(std::size_t socket) const;
    Json eye() const;
    Json spectrum_db() const;
    Json services() const;
    Json stages() const;
    Json now() const;
    LiveTimes times() const;
    void count_services(double elapsed_s);

    static constexpr std::size_t kPoints = 400;

    mutable std::mutex mutex_;
    dvbs2::Receiver& receiver_;
    RxStatus status_;
    const RxStatus since_start_;
    const io::TsServices& ts_;
    RxPlace place_;
    const CountedSource& samples_;
    double input_rate_hz_;
    dsp::SampleFormat format_;
    dvbs2::EyeView eye_view_;
    LiveView view_;
    std::size_t raw_, turned_, upright_, filtered_;
    PageKnobs knobs_;
    std::optional<Schedule> schedule_{};
    RxHistory history_{};
    Waterfall waterfall_{};
    RxView last_{};
    Json last_status_ = Json::object();
    Json pictures_ = Json::object();
    Json locked_pictures_ = Json::object();  // the last ones under a lock: a run ends in noise
    LiveTimes times_{};                      // at the last step
    LiveTimes recent_{};                     // between the last two
    std::map<int, Rate> rates_{};
    std::uint64_t steps_ = 0;
    double last_s_ = 0;
};

/// The numbers of a status as Prometheus text.
std::string metrics_text(const Json& status);

/// A text of a stranger as a label's value in Prometheus text.
std::string label_text(const std::string& text);

}  // namespace tidemill::cli
