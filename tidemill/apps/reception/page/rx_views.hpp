#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "tidemill/apps/reception/page/rx_history.hpp"
#include "tidemill/apps/reception/receivers.hpp"
#include "tidemill/apps/reception/rx_status.hpp"
#include "tidemill/dvbs2/receiver/eye_view.hpp"
#include "tidemill/io/transport/ts_services.hpp"
#include "tidemill/runtime/observe/live_view.hpp"

namespace tidemill::cli {

/// Name of a carrier's reception, and the position of its samples.
struct RxLabel {
    std::size_t carrier = 0;              ///< of the receivers, from 0 on
    std::optional<std::size_t> number{};  ///< in a scan, of one of several
    std::string name;
    double tuned_hz = 0;  ///< where the receiver's samples were taken from, as its frequencies are reported
    double rolloff = 0.20;
    double input_rate_hz = 0;  ///< of the receiver's samples
    dsp::SampleFormat format = dsp::SampleFormat::cf32;
    std::string player{};  ///< what a player opens; empty: nothing is sent to one
};

/// Samples of a whole reception whose spectra show it, the newest last: of a bounded number of moments, as
/// far apart as that takes. Spectra are made on request.
class Waterfall {
  public:
    using Row = std::vector<std::byte>;
    static constexpr std::size_t kMostRows = 240;

    void add(std::span<const std::byte> samples);
    const std::vector<Row>& rows() const { return rows_; }

  private:
    std::vector<Row> rows_{};
    std::size_t every_ = 1;
    std::size_t seen_ = 0;
};

/// The services that counters are kept of: the first so many numbers that ever came, because a collector
/// keeps a series of each for ever.
class CountedServices {
  public:
    static constexpr std::size_t kMost = 256;

    /// Those of these services that are counted.
    std::vector<io::TsService> among(const std::vector<io::TsService>& services);

  private:
    std::set<int> numbers_{};
};

/// Values of a carrier for Prometheus.
struct RxMetrics {
    std::optional<std::size_t> carrier{};  ///< its number, where there are several
    Json status = Json::object();
    std::vector<io::TsService> services{};
};

/// All that there is to see of a running reception of one carrier, as JSON. Any thread may ask.
class RxViews {
  public:
    RxViews(Receivers& receivers, const RxStatus& status, const io::TsServices& services, RxLabel place,
            LiveView& view);

    /// Twice a second: the numbers move on, and so does the waterfall.
    void step(double now_s);
    /// Some times a second, when somebody looks: what is drawn moves on.
    void draw();

    std::optional<std::size_t> number() const { return place_.number; }
    bool locked() const;
    /// For programs.
    Json status() const;
    RxMetrics metrics();
    /// For the page: as it is now, what the last step added, and what was before.
    Json now() const;
    Json moment() const;
    Json past() const;
    /// Where it lies in the band.
    Json mask() const;
    /// For a page that shows the whole run.
    Json whole() const;

  private:
    struct Rate {
        std::uint64_t packets = 0;
        double kbps = 0;
    };

    std::size_t add(std::string_view socket, std::size_t elements);
    Json pictures() const;
    Json constellation(std::size_t socket) const;
    Json eye() const;
    Json spectrum_db(std::span<const std::byte> bytes) const;
    Json services(bool of_all_times) const;
    Json recent_status() const;
    void count_services(double elapsed_s);

    static constexpr std::size_t kPoints = 400;

    mutable std::mutex mutex_;
    Receivers& receivers_;
    RxStatus status_;
    const RxStatus since_start_;
    const io::TsServices& ts_;
    RxLabel place_;
    dvbs2::EyeView eye_view_;
    LiveView& view_;
    std::size_t raw_, turned_, upright_, filtered_;
    RxHistory history_{};
    Waterfall waterfall_{};
    RxView last_{};
    Json pictures_ = Json::object();
    Json locked_pictures_ = Json::object();  // the last ones under a lock: a run ends in noise
    std::map<int, Rate> rates_{};
    CountedServices counted_{};
    std::uint64_t steps_ = 0;
    double last_s_ = 0;
};

/// The numbers of all carriers as Prometheus text, and the viewers.
std::string metrics_text(const std::vector<RxMetrics>& carriers, std::size_t viewers);

/// A text of a stranger as a label's value in Prometheus text.
std::string label_text(const std::string& text);

}  // namespace tidemill::cli
