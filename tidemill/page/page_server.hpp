#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "tidemill/page/live_feed.hpp"

namespace tidemill::page {

/// How a page is served.
struct PageOptions {
    std::uint16_t port = 0;         ///< 0: the first free one from 8080 on
    std::size_t most_viewers = 32;  ///< that look at the same time
};

/// Serves one page over HTTP to this machine alone, with what a feed tells: `/` is the page, `/events` its
/// server-sent events, `/status` JSON, `/metrics` Prometheus text, `/healthz` 200 or 503. Nothing can be
/// changed over it. Requests for another host than this machine are refused, so that no other page in the
/// viewer's browser reads it by a name that leads here.
class PageServer {
  public:
    /// Throws PageError where the port is taken, or where the program was built without a page.
    PageServer(const LiveFeed& feed, const PageOptions& options);
    PageServer(const PageServer&) = delete;
    PageServer& operator=(const PageServer&) = delete;
    ~PageServer();

    std::uint16_t port() const;
    std::string url() const { return "http://127.0.0.1:" + std::to_string(port()) + "/"; }

  private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace tidemill::page
