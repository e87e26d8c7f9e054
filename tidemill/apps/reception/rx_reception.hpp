#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tidemill/apps/reception/counted_source.hpp"
#include "tidemill/apps/reception/page/band_tap.hpp"
#include "tidemill/apps/reception/page/rx_page.hpp"
#include "tidemill/apps/reception/receivers.hpp"
#include "tidemill/apps/reception/rx_carriers.hpp"
#include "tidemill/apps/reception/rx_guard.hpp"
#include "tidemill/apps/reception/rx_options.hpp"
#include "tidemill/apps/reception/status_lines.hpp"
#include "tidemill/apps/running/checkpointed_run.hpp"
#include "tidemill/apps/running/watched_run.hpp"
#include "tidemill/runtime/stream/journal.hpp"

namespace tidemill::cli {

/// A reception that runs: the samples, the receivers of its carriers, and all that looks at them.
class RxReception {
  public:
    /// All that is given outlives it. Throws JobFailed for what cannot be written, and CheckpointError.
    RxReception(const RxRunOptions& how, const RxExtraOptions& beside, RxCarriers& carriers);

    /// Until the samples end, or the user or a policy ends it.
    void go(GraphRun& run, RxGuard& guard, RxPage& page);
    /// Everything is written; throws JobFailed where it could not be. The outcome says that a report could
    /// not be written.
    void close(const GraphRun& run, const RxPage& page);

    /// Whether a sample has been read.
    bool has_read() const { return counted_.samples() > 0; }
    /// For how long samples of a live input were waited for.
    double waited_us() const { return counted_.waiting_us(); }
    const WatchedRun& watched() const { return watched_; }
    const Receivers& receivers() const { return *receivers_; }
    const io::SampleSource& source() const { return *source_; }

  private:
    std::unique_ptr<io::SampleSource> open();
    io::SampleSource& kept_samples();
    void count_seam();
    std::unique_ptr<IqSaver> iq_saver() const;
    std::unique_ptr<RxShow> show();
    RxLabel place_of(std::size_t carrier) const;
    std::vector<StatusSources> asked() const;
    RunOptions run_options();
    bool needs_more_cores() const;
    void look_by_samples(RxGuard& guard, RxPage& page);
    void write_report(const RxPage& page);
    std::string progress(double elapsed_s) const;

    const RxRunOptions& how_;
    const RxExtraOptions& beside_;
    RxCarriers& carriers_;
    BandTap* band_ = nullptr;  // part of the source; null: nobody looks, or the receiver takes all of it
    std::unique_ptr<io::SampleSource> source_;
    CountedSource counted_;
    std::unique_ptr<Receivers> receivers_;
    WatchedRun watched_;
    StatusLines status_;
    std::unique_ptr<Journal> journal_;  // null: none wanted, like the others
    std::unique_ptr<IqSaver> saver_;
    std::unique_ptr<RxShow> show_;
    CheckpointedRun kept_;
};

}  // namespace tidemill::cli
