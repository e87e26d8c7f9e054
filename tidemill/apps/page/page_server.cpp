#include "tidemill/apps/page/page_server.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>

#include "tidemill/apps/page/page_error.hpp"

#ifdef TIDEMILL_HAS_HTTPLIB

#include <array>
#include <atomic>
#include <chrono>
#include <deque>
#include <mutex>
#include <string_view>
#include <thread>

#include "tidemill/apps/page/bounded_http.hpp"
#include "tidemill/apps/page/guess_limit.hpp"
#include "tidemill/apps/page/page_guard.hpp"
#include "tidemill/apps/page/web_files.hpp"
#include "tidemill/machine/start_thread.hpp"

namespace tidemill::page {
namespace {

constexpr std::uint16_t kFirstPort = 8080, kLastPort = 8180;
constexpr std::size_t kThreadsForOthers = 64;  // beside viewers: a request of /healthz waits for none
constexpr std::size_t kMostBodyBytes = 4096;
constexpr std::chrono::seconds kSilence{1};  // between two signs of life

// The library lets others share a port, which would hide that it is taken.
void own_the_port(socket_t socket) {
    const int yes = 1;  // also where the last page has just ended
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
}

// Another site's page may lead here by a link, and load nothing.
bool is_embedded_elsewhere(const httplib::Request& request) {
    const std::string site = request.get_header_value("Sec-Fetch-Site");
    const bool is_own = site.empty() || site == "same-origin" || site == "none";
    return !is_own && request.get_header_value("Sec-Fetch-Mode") != "navigate";
}

/// A document as text: a reader that asks while another still gets one of the last second shares that.
class SharedDocument {
  public:
    explicit SharedDocument(PageDocument document) : document_(std::move(document)) {}

    const std::string& path() const { return document_.path; }
    const std::string& type() const { return document_.type; }

    std::shared_ptr<const std::string> text() {
        const std::lock_guard lock(mutex_);
        const auto now = std::chrono::steady_clock::now();
        auto text = text_.lock();
        if (text && now - made_ < std::chrono::seconds(1)) return text;
        text = std::make_shared<const std::string>(document_.make());
        text_ = text;
        made_ = now;
        return text;
    }

  private:
    PageDocument document_;
    std::mutex mutex_;
    std::weak_ptr<const std::string> text_{};
    std::chrono::steady_clock::time_point made_{};
};

PageRequest told_by(const httplib::Request& request) {
    return {request.get_header_value("Host"), request.get_header_value("Origin"),
            request.get_header_value("X-Tidemill-Token"), request.get_header_value("Authorization")};
}

void say(httplib::Response& response, int status, const std::string& text) {
    response.status = status;
    response.set_content(text + "\n", "text/plain; charset=utf-8");
}

}  // namespace

class PageServer::Impl {
  public:
    Impl(const LiveFeed& feed, const PageOptions& options, std::vector<PageDocument> documents,
         std::vector<PageAction> actions, const std::vector<PageFeed>& further)
        : feed_(feed),
          options_(options),
          actions_(std::move(actions)),
          guard_(options.hosts, options.password) {
        if (!is_loopback(options.address) && options.password.empty())
            throw PageError(
                fmt::format("no page at {}: others could look at it; give a password", options.address));
        server_.new_task_queue = [this] {
            return new ConnectionThreads(options_.most_viewers + kThreadsForOthers, server_.half_open());
        };
        server_.set_socket_options(own_the_port);
        server_.set_payload_max_length(kMostBodyBytes);
        set_guard();
        for (PageDocument& document : documents) documents_.emplace_back(std::move(document));
        serve_files();
        serve_health();
        serve_events("/events", feed_);
        for (const PageFeed& more : further) serve_events(more.path, *more.feed);
        serve_actions();
        bind();
        thread_ = start_thread([this](const std::stop_token&) {
            try {
                server_.listen_after_bind();
            } catch (const std::exception& error) {
                options_.warn(fmt::format("the page has ended: {}", error.what()));
            }
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
    std::size_t viewers() const { return viewers_; }

    std::string url() const {
        const bool is_any = options_.address == "0.0.0.0" || options_.address == "::";
        std::string host = is_any && !options_.hosts.empty() ? options_.hosts.front() : options_.address;
        if (host.find(':') != std::string::npos && !host.starts_with('[')) host = "[" + host + "]";
        return fmt::format("http://{}:{}/{}", host, port_, actions_.empty() ? "" : "#" + guard_.token());
    }

  private:
    void set_guard() {
        server_.set_default_headers(
            {{"Content-Security-Policy", "default-src 'self'; frame-ancestors 'none'"},
             {"Cross-Origin-Resource-Policy", "same-origin"},
             {"X-Content-Type-Options", "nosniff"},
             {"Referrer-Policy", "no-referrer"},
             {"Cache-Control", "no-store"}});
        server_.set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
            const PageRequest told = told_by(request);
            if (request.get_header_value_count("Host") != 1) {
                say(response, 400, "One Host header is wanted, no more and no less.");  // RFC 9112, 3.2
            } else if (!guard_.is_for_us(told)) {
                say(response, 403, "This page is for its own names alone: see --page-host.");
            } else if (is_embedded_elsewhere(request) || !guard_.is_own_origin(told)) {
                say(response, 403, "Other sites may link to this page, not load it.");
            } else if (guard_.is_let_in({})) {
                return httplib::Server::HandlerResponse::Unhandled;  // no password is asked for
            } else if (let_in(told, request.remote_addr, response)) {
                return httplib::Server::HandlerResponse::Unhandled;
            }
            return httplib::Server::HandlerResponse::Handled;
        });
    }

    // Where a source has to wait, not even the right password is looked at.
    bool let_in(const PageRequest& told, const std::string& address, httplib::Response& response) {
        const std::string source = source_of(address);
        const auto now = std::chrono::steady_clock::now();
        if (!told.authorization.empty() && guesses_.must_wait(source, now)) {
            response.set_header("Retry-After", std::to_string(GuessLimit::kLongestWait.count()));
            say(response, 429, "Too many wrong passwords: wait a minute.");
            return false;
        }
        if (guard_.is_let_in(told)) {
            guesses_.right(source);
            return true;
        }
        if (!told.authorization.empty() && guesses_.wrong(source, now))
            options_.warn(fmt::format("the page's password is being guessed from {}", address));
        response.set_header("WWW-Authenticate", "Basic realm=\"tidemill\", charset=\"UTF-8\"");
        say(response, 401, "A password is wanted.");
        return false;
    }

    void serve_files() {
        for (const WebFile& file : web_files()) {
            const auto give = [file](const httplib::Request&, httplib::Response& response) {
                response.set_content(file.text.data(), file.text.size(), file.type);
            };
            server_.Get(file.path, give);
        }
        for (SharedDocument& document : documents_) {
            server_.Get(document.path(), [&document](const httplib::Request&, httplib::Response& response) {
                const auto text = document.text();
                response.set_content_provider(
                    text->size(), document.type(),
                    [text](std::size_t from, std::size_t bytes, httplib::DataSink& sink) {
                        return sink.write(text->data() + from, bytes);
                    });
            });
        }
        // Browsers ask for it unasked.
        server_.Get("/favicon.ico",
                    [](const httplib::Request&, httplib::Response& response) { response.status = 204; });
    }

    void serve_health() {
        server_.Get("/healthz", [this](const httplib::Request&, httplib::Response& response) {
            const bool healthy = options_.is_healthy();
            say(response, healthy ? 200 : 503, healthy ? "locked" : "no lock");
        });
    }

    void serve_events(const std::string& path, const LiveFeed& feed) {
        server_.Get(path, [this, &feed](const httplib::Request&, httplib::Response& response) {
            if (viewers_.fetch_add(1) >= options_.most_viewers) {
                --viewers_;
                return say(response, 503, "As many look already as may.");
            }
            response.set_chunked_content_provider(
                "text/event-stream",
                [this, &feed, seen = std::uint64_t{0}](std::size_t, httplib::DataSink& sink) mutable {
                    return tell(feed, seen, sink);
                },
                [this](bool) { --viewers_; });
        });
    }

    void serve_actions() {
        for (const PageAction& action : actions_) {
            server_.Post(action.path,
                         [this, &action](const httplib::Request& request, httplib::Response& response) {
                             if (!guard_.may_act(told_by(request)))
                                 return say(response, 403, "Only the page at the given address may do that.");
                             const PageAnswer answer = action.act(request.body);
                             say(response, answer.status, answer.text);
                         });
        }
    }

    // One event, or a sign of life. False: nobody looks any more.
    bool tell(const LiveFeed& feed, std::uint64_t& seen, httplib::DataSink& sink) const {
        const auto next = feed.wait(seen, kSilence);
        if (!next && (ending_ || feed.is_closed())) {
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
            if (server_.bind_to_port(options_.address, port_)) return server_.widen_queue();
        throw PageError(fmt::format(
            "no page at {}:{}: the port is taken, or the address is not of this machine; choose another one",
            options_.address, first));
    }

    const LiveFeed& feed_;
    PageOptions options_;
    std::deque<SharedDocument> documents_;
    std::vector<PageAction> actions_;
    PageGuard guard_;
    GuessLimit guesses_;
    BoundedHttp server_;
    std::atomic<std::size_t> viewers_{0};
    std::atomic<bool> ending_{false};
    std::atomic<bool> ended_{false};
    std::uint16_t port_ = 0;
    std::jthread thread_;
};

PageServer::PageServer(const LiveFeed& feed, const PageOptions& options, std::vector<PageDocument> documents,
                       std::vector<PageAction> actions, const std::vector<PageFeed>& further)
    : impl_(std::make_unique<Impl>(feed, options, std::move(documents), std::move(actions), further)) {}

std::uint16_t PageServer::port() const {
    return impl_->port();
}

std::string PageServer::url() const {
    return impl_->url();
}

std::size_t PageServer::viewers() const {
    return impl_->viewers();
}

}  // namespace tidemill::page

#else

namespace tidemill::page {

class PageServer::Impl {};

PageServer::PageServer(const LiveFeed&, const PageOptions&, std::vector<PageDocument>,
                       std::vector<PageAction>, const std::vector<PageFeed>&) {
    throw PageError("this program was built without its page: install libcpp-httplib-dev and build again");
}

std::uint16_t PageServer::port() const {
    return 0;
}

std::string PageServer::url() const {
    return {};
}

std::size_t PageServer::viewers() const {
    return 0;
}

}  // namespace tidemill::page

#endif

namespace tidemill::page {

PageServer::~PageServer() = default;

bool is_loopback(const std::string& address) {
    in_addr four{};
    in6_addr six{};
    if (::inet_pton(AF_INET, address.c_str(), &four) == 1) return (ntohl(four.s_addr) >> 24) == 127;
    return ::inet_pton(AF_INET6, address.c_str(), &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
}

}  // namespace tidemill::page
