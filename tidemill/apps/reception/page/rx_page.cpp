#include "tidemill/apps/reception/page/rx_page.hpp"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <malloc.h>

#include "tidemill/apps/outputs/output.hpp"
#include "tidemill/apps/page/page_error.hpp"
#include "tidemill/apps/page/report_file.hpp"
#include "tidemill/base/cli_error.hpp"
#include "tidemill/io/transport/byte_writer.hpp"
#include "tidemill/options/standard_streams.hpp"

namespace tidemill::cli {

namespace {

constexpr std::chrono::milliseconds kDrawPeriod{100};
constexpr double kStepPeriod_s = 0.5;
constexpr int kMostHeaps = 4;

std::string page_password(const RxPageOptions& options) {
    if (!options.password_file.empty()) return password_of_file(options.password_file);
    const char* const password = std::getenv("TIDEMILL_PAGE_PASSWORD");
    return password ? password : "";
}

// A part of a page shows nothing.
void remove_part_of(const std::string& report) {
    std::error_code unknown;
    if (std::filesystem::is_regular_file(report, unknown)) std::filesystem::remove(report, unknown);
}

}  // namespace

RxPage::RxPage(const RxPageOptions& options, std::size_t most_carriers)
    : options_(options), feeds_(most_carriers) {
    if (!options.any()) return;
    if (!options.report.empty()) writing([&] { const io::ByteWriter file(options.report); });
    std::error_code unknown;
    if (!options.folder.empty() && !std::filesystem::is_directory(options.folder, unknown))
        throw JobFailed(fmt::format("--page-dir {}: there is no such folder", options.folder));
    feeds_.front().publish("{}");
    if (options.place) {
        // Else each connection's thread reserves another 64 MiB of addresses, which limits of memory count.
        ::mallopt(M_ARENA_MAX, kMostHeaps);
        try {
            server_.emplace(feeds_.front(), server_options(), documents(), actions(), further_feeds());
        } catch (const page::PageError& error) {
            throw JobFailed(error.what());
        }
    }
    ticks_.emplace(kDrawPeriod, [this](double now_s) { tick(now_s); });
}

RxPage::~RxPage() {
    ticks_.reset();
    for (page::LiveFeed& feed : feeds_) feed.close();
}

std::string RxPage::url() const {
    return server_ ? server_->url() : "";
}

page::PageOptions RxPage::server_options() const {
    const PageAddress place = options_.where();
    page::PageOptions server{.address = place.address,
                             .port = place.port,
                             .hosts = options_.hosts,
                             .most_viewers = options_.most_viewers,
                             .password = page_password(options_),
                             .is_healthy =
                                 [this] {
                                     const std::lock_guard lock(mutex_);
                                     return is_healthy();
                                 },
                             .warn = [](const std::string& line) { warn(line); }};
    if (page::is_loopback(place.address)) return server;
    if (server.password.empty()) {
        throw WrongUsage(fmt::format(
            "--page {}: others could look at it: give a password in a file (--page-password-file) or in "
            "TIDEMILL_PAGE_PASSWORD",
            place.address));
    }
    const bool is_any = place.address == "0.0.0.0" || place.address == "::";
    if (!is_any)
        server.hosts.push_back(place.address.find(':') == std::string::npos ? place.address
                                                                            : "[" + place.address + "]");
    if (server.hosts.empty())
        throw WrongUsage(fmt::format("--page {}: say by which name or address it is looked at: --page-host",
                                     place.address));
    return server;
}

// Feeds without a number are those of the first carrier.
std::vector<page::PageFeed> RxPage::further_feeds() const {
    std::vector<page::PageFeed> further;
    for (std::size_t k = 1; k < feeds_.size(); ++k)
        further.push_back({fmt::format("/events/{}", k), &feeds_[k]});
    return further;
}

std::string RxPage::history(std::size_t carrier) {
    const std::lock_guard lock(mutex_);
    return show_ ? show_->history(carrier) : "{}";
}

std::vector<page::PageDocument> RxPage::documents() {
    std::vector<page::PageDocument> documents{
        {"/graph.svg", "image/svg+xml",
         [this] {
             const std::lock_guard lock(mutex_);
             return show_ ? show_->run().graph_svg(false) : std::string();
         }},
        {"/status", "application/json",
         [this] {
             const std::lock_guard lock(mutex_);
             return show_ ? show_->status() : last_status_;
         }},
        {"/metrics", "text/plain; version=0.0.4",
         [this] {
             const std::lock_guard lock(mutex_);
             return show_ ? show_->metrics(server_->viewers()) : last_metrics_;
         }},
        {"/history", "application/json", [this] { return history(0); }}};
    for (std::size_t k = 1; k < feeds_.size(); ++k)
        documents.push_back(
            {fmt::format("/history/{}", k), "application/json", [this, k] { return history(k); }});
    return documents;
}

std::vector<page::PageAction> RxPage::actions() {
    if (!page::is_loopback(options_.where().address) && !options_.control) return {};
    std::vector<page::PageAction> actions{{"/knob", [this](const std::string& body) -> page::PageAnswer {
                                               const std::lock_guard lock(mutex_);
                                               if (!show_) return {409, "nothing runs"};
                                               return show_->run().knobs().set(body);
                                           }}};
    if (options_.folder.empty()) return actions;
    actions.push_back({"/iq", [this](const std::string&) -> page::PageAnswer {
                           const std::lock_guard lock(mutex_);
                           IqSaver* const iq = show_ ? show_->iq() : nullptr;
                           return iq ? iq->save() : page::PageAnswer{409, "nothing runs"};
                       }});
    return actions;
}

RxPage::Shown::Shown(RxPage& page, RxShow& show) : page_(page) {
    const std::lock_guard lock(page.mutex_);
    page.show_ = &show;
    show.draw();
}

RxPage::Shown::~Shown() {
    const std::lock_guard lock(page_.mutex_);
    page_.show_->step(page_.now_s_);
    page_.draw();
    page_.last_status_ = page_.show_->status();
    if (page_.server_) page_.last_metrics_ = page_.show_->metrics(page_.server_->viewers());
    page_.show_ = nullptr;
}

void RxPage::tick(double now_s) {
    const std::lock_guard lock(mutex_);
    now_s_ = now_s;
    if (!show_) return;
    if (show_->locked()) locked_s_ = now_s;
    const bool steps = !show_->steps_by_samples() && now_s - stepped_s_ >= kStepPeriod_s - 0.01;
    if (steps) {
        stepped_s_ = now_s;
        show_->step(now_s);
    }
    if (is_looked_at() || (steps && !options_.report.empty())) draw();
}

void RxPage::look() {
    const std::lock_guard lock(mutex_);
    if (!show_) return;
    show_->step(now_s_);
    if (is_looked_at() || !options_.report.empty()) draw();
}

bool RxPage::is_looked_at() const {
    return server_ && server_->viewers() > 0;
}

bool RxPage::is_healthy() const {
    return locked_s_ && now_s_ - *locked_s_ <= options_.unhealthy_after_s;
}

void RxPage::draw() {
    show_->draw();
    if (!server_) return;
    for (std::size_t k = 0; k < show_->carriers(); ++k) feeds_[k].publish(show_->event(k));
}

void RxPage::write_report(const RxShow& show) const {
    if (options_.report.empty()) return;
    const std::string text = page::report_file(show.whole());
    try {
        io::ByteWriter file(options_.report);
        file.write({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
        file.close();
    } catch (const Error& error) {
        remove_part_of(options_.report);
        throw JobFailed(error.what());
    }
}

}  // namespace tidemill::cli
