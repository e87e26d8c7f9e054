#include "tidemill/page/page_server.hpp"

#include <fmt/format.h>

#include "tidemill/page/page_error.hpp"

#ifdef TIDEMILL_HAS_HTTPLIB

#include <algorithm>
#include <array>
#include <atomic>
#include <string_view>
#include <thread>

#include <httplib.h>

#include "tidemill/page/web_files.hpp"
#include "tidemill/platform/start_thread.hpp"

namespace tidemill::page {
namespace {

constexpr const char* kHost = "127.0.0.1";
constexpr std::uint16_t kFirstPort = 8080, kLastPort = 8180;
constexpr std::size_t kThreadsForOthers = 8;  // than those who look: who asks for /healthz waits for nobody
constexpr std::chrono::seconds kPatience{2};  // with who neither sends nor reads
constexpr std::chrono::seconds kSilence{1};   // between two signs of life

bool is_this_machine(std::string host) {
    const auto colon = host.rfind(':');
    if (colon != std::string::npos && host.find(']', colon) == std::string::npos) host.resize(colon);
    constexpr std::array<std::string_view, 3> kNames{"localhost", "127.0.0.1", "[::1]"};
    return std::ranges::find(kNames, host) != kNames.end();
}

// The library lets others share a port, which would hide that it is taken.
void own_the_port(socket_t socket) {
    const int yes = 1;  // also where the last page has just ended
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
}

}  // namespace

class PageServer::Impl {
  public:
    Impl(const LiveFeed& feed, const PageOptions& options) : feed_(feed), options_(options) {
        server_.new_task_queue = [this] {
            return new httplib::ThreadPool(options_.most_viewers + kThreadsForOthers);
        };
        server_.set_socket_options(own_the_port);
        server_.set_read_timeout(kPatience);
        server_.set_write_timeout(kPatience);
        server_.set_keep_alive_timeout(kPatience.count());
        server_.set_payload_max_length(0);
        guard();
        serve_files();
        serve_values();
        bind();
        thread_ = start_thread([this](const std::stop_token&) {
            server_.listen_after_bind();
            ended_ = true;
        });
    }

    ~Impl() {
        ending_ = true;
        // A server that does not run yet cannot be stopped.
        while (!server_.is_running() && !ended_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        server_.stop();
        thread_.join();
    }

    std::uint16_t port() const { return port_; }

  private:
    void guard() {
        server_.set_default_headers({{"Content-Security-Policy", "default-src 'self'"},
                                     {"X-Content-Type-Options", "nosniff"},
                                     {"Referrer-Policy", "no-referrer"},
                                     {"Cache-Control", "no-store"}});
        server_.set_pre_routing_handler([](const httplib::Request& request, httplib::Response& response) {
            if (is_this_machine(request.get_header_value("Host")))
                return httplib::Server::HandlerResponse::Unhandled;
            response.status = 403;
            response.set_content("This page is for 127.0.0.1 and localhost alone.\n", "text/plain");
            return httplib::Server::HandlerResponse::Handled;
        });
    }

    void serve_files() {
        for (const WebFile& file : web_files()) {
            const auto give = [file](const httplib::Request&, httplib::Response& response) {
                response.set_content(file.text.data(), file.text.size(), file.type);
            };
            server_.Get(file.path, give);
        }
        // Browsers ask for it unasked.
        server_.Get("/favicon.ico",
                    [](const httplib::Request&, httplib::Response& response) { response.status = 204; });
    }

    void serve_values() {
        serve("/status", "application/json", &Snapshot::status);
        serve("/metrics", "text/plain; version=0.0.4", &Snapshot::metrics);
        server_.Get("/healthz", [this](const httplib::Request&, httplib::Response& response) {
            const auto newest = feed_.newest();
            const bool healthy = newest && newest->healthy;
            response.status = healthy ? 200 : 503;
            response.set_content(healthy ? "locked\n" : "no lock\n", "text/plain");
        });
        server_.Get("/events", [this](const httplib::Request&, httplib::Response& response) {
            if (viewers_.fetch_add(1) >= options_.most_viewers) {
                --viewers_;
                response.status = 503;
                response.set_content("As many look already as may.\n", "text/plain");
                return;
            }
            response.set_chunked_content_provider(
                "text/event-stream",
                [this, seen = std::uint64_t{0}](std::size_t, httplib::DataSink& sink) mutable {
                    return tell(seen, sink);
                },
                [this](bool) { --viewers_; });
        });
    }

    void serve(const char* path, const char* type, std::string Snapshot::*what) {
        server_.Get(path, [this, type, what](const httplib::Request&, httplib::Response& response) {
            const auto newest = feed_.newest();
            response.set_content(newest ? (*newest).*what : std::string(), type);
        });
    }

    // One event, or a sign of life. False: nobody looks any more.
    bool tell(std::uint64_t& seen, httplib::DataSink& sink) const {
        const auto next = feed_.wait(seen, kSilence);
        if (!next && (ending_ || feed_.is_closed())) {
            sink.done();
            return true;
        }
        const std::string text = next ? fmt::format("data: {}\n\n", next->event) : std::string(":\n\n");
        if (next) seen = next->number;
        return sink.write(text.data(), text.size());
    }

    void bind() {
        const std::uint16_t first = options_.port > 0 ? options_.port : kFirstPort;
        const std::uint16_t last = options_.port > 0 ? options_.port : kLastPort;
        for (port_ = first; port_ <= last; ++port_)
            if (server_.bind_to_port(kHost, port_)) return;
        throw PageError(fmt::format("no page at {}:{}: the port is taken; choose another one", kHost, first));
    }

    const LiveFeed& feed_;
    PageOptions options_;
    httplib::Server server_;
    std::atomic<std::size_t> viewers_{0};
    std::atomic<bool> ending_{false};
    std::atomic<bool> ended_{false};
    std::uint16_t port_ = 0;
    std::jthread thread_;
};

PageServer::PageServer(const LiveFeed& feed, const PageOptions& options)
    : impl_(std::make_unique<Impl>(feed, options)) {}

std::uint16_t PageServer::port() const {
    return impl_->port();
}

}  // namespace tidemill::page

#else

namespace tidemill::page {

class PageServer::Impl {};

PageServer::PageServer(const LiveFeed&, const PageOptions&) {
    throw PageError("this program was built without its page: install libcpp-httplib-dev and build again");
}

std::uint16_t PageServer::port() const {
    return 0;
}

}  // namespace tidemill::page

#endif

namespace tidemill::page {

PageServer::~PageServer() = default;

}  // namespace tidemill::page
