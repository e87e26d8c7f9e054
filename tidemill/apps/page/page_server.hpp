#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tidemill/apps/page/live_feed.hpp"

namespace tidemill::page {

/// How a page is served, and to whom.
struct PageOptions {
    std::string address = "127.0.0.1";  ///< of this machine, at which it listens
    std::uint16_t port = 0;             ///< 0: the first free one from 8080 on
    std::vector<std::string> hosts{};   ///< names by which it may be asked for, besides this machine's own
    std::size_t most_viewers = 32;      ///< that look at the same time
    std::string password{};             ///< of viewers, by any name; empty: none is asked for
    /// Asked for each `/healthz`; by a thread of the server.
    std::function<bool()> is_healthy = [] { return false; };
    /// Gets, in a line, the address that has begun to guess it; by a thread of the server.
    std::function<void(const std::string&)> warn = [](const std::string&) {};
};

/// Other document of a page: made anew for each request.
struct PageDocument {
    std::string path;
    std::string type;  ///< "image/svg+xml"
    std::function<std::string()> make;
};

/// Events of another feed than the page's own.
struct PageFeed {
    std::string path;  ///< "/events/1"
    const LiveFeed* feed = nullptr;
};

/// Answer to an action: a status of HTTP, and a sentence.
struct PageAnswer {
    int status = 200;
    std::string text;
};

/// Action that can be done over a page.
struct PageAction {
    std::string path;
    std::function<PageAnswer(const std::string& body)> act;
};

/// Serves one page over HTTP, with the data of a feed: `/` is the page, `/events` its server-sent events,
/// `/healthz` 200 or 503, and documents. Requests must name this machine as their host, or a given one, so
/// that no other page in the viewer's browser reads it by a name that leads here. An address that guesses
/// passwords waits longer each time. An action takes a POST from the page itself with the token in the
/// address; where there is none, nothing can be changed. Heads, bodies, connections and the time that they
/// may take are limited.
class PageServer {
  public:
    /// Feeds outlive it. Documents and actions are called by threads of the server, several at a time. Throws
    /// PageError where the port is taken, where others than this machine could look without a password, or
    /// where the program was built without a page.
    PageServer(const LiveFeed& feed, const PageOptions& options, std::vector<PageDocument> documents = {},
               std::vector<PageAction> actions = {}, const std::vector<PageFeed>& further = {});
    PageServer(const PageServer&) = delete;
    PageServer& operator=(const PageServer&) = delete;
    ~PageServer();

    std::uint16_t port() const;
    /// Address of the page, with the token where something can be changed.
    std::string url() const;
    /// Number of viewers at the moment.
    std::size_t viewers() const;

  private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

/// Whether only this machine reaches an address.
bool is_loopback(const std::string& address);

}  // namespace tidemill::page
