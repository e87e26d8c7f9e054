#pragma once

#include <optional>
#include <string>

#include "tidemill/cli/dvbs2/rx_status.hpp"
#include "tidemill/cli/option.hpp"
#include "tidemill/dvbs2/receiver/receiver.hpp"
#include "tidemill/io/sample_source.hpp"
#include "tidemill/io/ts_monitor.hpp"
#include "tidemill/page/live_feed.hpp"
#include "tidemill/page/page_server.hpp"
#include "tidemill/run/insight/probes.hpp"

namespace tidemill::cli {

/// A reception in the browser, while it lives: the status twice a second, the constellation and the spectrum.
class RxPage {
  public:
    /// `port` is a number, or auto for the first free one; `samples` are what the receiver reads of the place
    /// `name`. Throws JobFailed.
    RxPage(OrAuto<int> port, dvbs2::Receiver& receiver, const io::TsMonitor& packets,
           const io::SampleRing* ring, const io::SampleSource& samples, std::string name);
    /// Those who look see the end.
    ~RxPage();

    /// Looks at the run; to be given to it.
    Observer& observer() { return probes_; }
    std::string url() const { return server_->url(); }

  private:
    void publish(double now_s);
    Json points() const;
    Json spectrum_db() const;

    std::string name_;
    double input_rate_hz_;
    dsp::SampleFormat format_;
    RxStatus status_;
    RxStatus since_start_;
    Probes probes_;
    const Probe& symbols_;
    const Probe& samples_;
    page::LiveFeed feed_;
    std::optional<page::PageServer> server_;
    std::optional<Every> ticks_;
};

/// The numbers of a status as Prometheus text, whose frames count since the start.
std::string metrics_text(const Json& status);

}  // namespace tidemill::cli
