#include "tidemill/cli/rx_page/rx_page.hpp"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "tidemill/cli/cli_error.hpp"
#include "tidemill/cli/output.hpp"
#include "tidemill/io/byte_writer.hpp"
#include "tidemill/page/page_error.hpp"
#include "tidemill/page/report_file.hpp"

namespace tidemill::cli {

namespace {

constexpr std::chrono::milliseconds kDrawPeriod{100};
constexpr double kStepPeriod_s = 0.5;

std::string page_password(const RxPageOptions& options) {
    if (!options.password_file.empty()) return password_of_file(options.password_file);
    const char* const password = std::getenv("TIDEMILL_PAGE_PASSWORD");
    return password ? password : "";
}

}  // namespace

RxPage::RxPage(const RxPageOptions& options) : options_(options) {
    if (!options.any()) return;
    if (!options.report.empty()) writing([&] { const io::ByteWriter file(options.report); });
    std::error_code unknown;
    if (!options.folder.empty() && !std::filesystem::is_directory(options.folder, unknown))
        throw JobFailed(fmt::format("--page-dir {}: there is no such folder", options.folder));
    feed_.publish(
        {.event = "{}", .status = R"({"phase":"wait","lock":false})", .metrics = "tidemill_rx_lock 0\n"});
    if (options.place) {
        try {
            server_.emplace(feed_, server_options(), documents(), actions());
        } catch (const page::PageError& error) {
            throw JobFailed(error.what());
        }
    }
    ticks_.emplace(kDrawPeriod, [this](double now_s) { tick(now_s); });
}

RxPage::~RxPage() {
    ticks_.reset();
    feed_.close();
}

std::string RxPage::url() const {
    return server_ ? server_->url() : "";
}

page::PageOptions RxPage::server_options() const {
    const PagePlace place = options_.where();
    page::PageOptions server{.address = place.address,
                             .port = place.port,
                             .hosts = options_.hosts,
                             .most_viewers = options_.most_viewers,
                             .password = page_password(options_)};
    if (page::is_loopback(place.address)) return server;
    if (server.password.empty()) {
        throw JobFailed(fmt::format(
            "--page {}: others could look at it: give a password in a file (--page-password-file) or in "
            "TIDEMILL_PAGE_PASSWORD",
            place.address));
    }
    const bool is_any = place.address == "0.0.0.0" || place.address == "::";
    if (!is_any)
        server.hosts.push_back(place.address.find(':') == std::string::npos ? place.address
                                                                            : "[" + place.address + "]");
    if (server.hosts.empty())
        throw JobFailed(fmt::format("--page {}: say by which name or address it is looked at: --page-host",
                                    place.address));
    return server;
}

std::vector<page::PageDocument> RxPage::documents() {
    return {{"/history", "application/json",
             [this] {
                 const std::lock_guard lock(mutex_);
                 return views_ ? views_->history() : std::string("{}");
             }},
            {"/graph.svg", "image/svg+xml", [this] {
                 const std::lock_guard lock(mutex_);
                 return views_ ? views_->graph_svg() : std::string();
             }}};
}

std::vector<page::PageAction> RxPage::actions() {
    if (!page::is_loopback(options_.where().address) && !options_.control) return {};
    std::vector<page::PageAction> actions{{"/knob", [this](const std::string& body) -> page::PageAnswer {
                                               const std::lock_guard lock(mutex_);
                                               if (!views_) return {409, "nothing runs"};
                                               return views_->knobs().set(body);
                                           }}};
    if (options_.folder.empty()) return actions;
    actions.push_back({"/iq", [this](const std::string&) -> page::PageAnswer {
                           const std::lock_guard lock(mutex_);
                           return iq_ ? iq_->save() : page::PageAnswer{409, "nothing runs"};
                       }});
    return actions;
}

RxPage::Shown::Shown(RxPage& page, RxViews& views, IqSaver* iq) : page_(page) {
    const std::lock_guard lock(page.mutex_);
    page.views_ = &views;
    page.iq_ = iq;
    views.draw();
}

RxPage::Shown::~Shown() {
    const std::lock_guard lock(page_.mutex_);
    page_.views_->step(page_.now_s_);
    // A recording may have been over before there was anything to draw.
    if (page_.stepped_s_ < 0) page_.views_->draw();
    page_.publish();
    page_.views_ = nullptr;
    page_.iq_ = nullptr;
}

void RxPage::tick(double now_s) {
    const std::lock_guard lock(mutex_);
    now_s_ = now_s;
    if (!views_) return;
    const bool steps = now_s - stepped_s_ >= kStepPeriod_s - 0.01;
    const bool looked_at = server_ && server_->viewers() > 0;
    if (!steps && !looked_at) return;
    if (steps) {
        stepped_s_ = now_s;
        views_->step(now_s);
        if (views_->locked()) locked_s_ = now_s;
    }
    views_->draw();
    publish();
}

bool RxPage::is_healthy() const {
    return locked_s_ && now_s_ - *locked_s_ <= options_.unhealthy_after_s;
}

void RxPage::publish() {
    if (!server_) return;
    feed_.publish({.event = views_->event(),
                   .status = views_->status(),
                   .metrics = views_->metrics(server_->viewers()),
                   .healthy = is_healthy()});
}

void RxPage::write_report(const RxViews& views) const {
    if (options_.report.empty()) return;
    const std::string text = page::report_file(to_text(views.whole()));
    writing([&] {
        io::ByteWriter file(options_.report);
        file.write({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
        file.close();
    });
}

}  // namespace tidemill::cli
