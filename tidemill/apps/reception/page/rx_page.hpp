#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "tidemill/apps/page/live_feed.hpp"
#include "tidemill/apps/page/page_server.hpp"
#include "tidemill/apps/reception/page/page_address.hpp"
#include "tidemill/apps/reception/page/rx_show.hpp"
#include "tidemill/apps/reception/rx_status.hpp"

namespace tidemill::cli {

/// Where and to whom a reception is shown while it runs, and after it.
struct RxPageOptions {
    std::optional<OrAuto<PageAddress>> place{};  ///< none: no page
    std::vector<std::string> hosts{};            ///< by which it may be asked for
    std::size_t most_viewers = 32;
    std::string password_file{};    ///< else the variable TIDEMILL_PAGE_PASSWORD
    bool control = false;           ///< also others than this machine may change something
    std::string folder{};           ///< for samples that viewers save; empty: they cannot
    double unhealthy_after_s = 10;  ///< without a lock
    std::string report{};           ///< a file with the whole run; empty: none

    PageAddress where() const { return place->value.value_or(PageAddress{}); }
    bool any() const { return place || !report.empty(); }
};

/// A reception in the browser, from before its first sample until it ends, and in a report of the whole.
class RxPage {
  public:
    /// At most so many carriers are shown. Throws JobFailed for a page that cannot be.
    explicit RxPage(const RxPageOptions& options, std::size_t most_carriers = 1);
    ~RxPage();

    /// Empty where there is no page.
    std::string url() const;

    /// While it lives, a reception is shown.
    class Shown {
      public:
        Shown(RxPage& page, RxShow& show);
        Shown(const Shown&) = delete;
        Shown& operator=(const Shown&) = delete;
        ~Shown();

      private:
        RxPage& page_;
    };

    /// Looks at a recording: some of its samples more were read. By the thread that reads.
    void look();

    /// Writes the report that is wanted; throws JobFailed.
    void write_report(const RxShow& show) const;

  private:
    page::PageOptions server_options() const;
    std::vector<page::PageFeed> further_feeds() const;
    std::vector<page::PageDocument> documents();
    std::string history(std::size_t carrier);
    std::vector<page::PageAction> actions();
    void tick(double now_s);
    void draw();
    bool is_looked_at() const;
    bool is_healthy() const;

    const RxPageOptions& options_;
    std::vector<page::LiveFeed> feeds_;  // one for each carrier
    mutable std::mutex mutex_;           // of what follows
    RxShow* show_ = nullptr;
    double now_s_ = 0;
    double stepped_s_ = -1;
    std::optional<double> locked_s_{};
    std::string last_status_ = R"({"phase":"searching","lock":false})";  // where nothing is shown
    std::string last_metrics_ = "tidemill_rx_lock 0\n";
    std::optional<page::PageServer> server_;
    std::optional<Every> ticks_;
};

}  // namespace tidemill::cli
