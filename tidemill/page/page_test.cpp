// The page's feed and server, asked over plain sockets.
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/page/live_feed.hpp"
#include "tidemill/page/page_error.hpp"
#include "tidemill/page/page_server.hpp"
#include "tidemill/testing/loopback_server.hpp"

namespace tidemill::page {
namespace {

using namespace std::chrono_literals;

bool has_server() {
    try {
        const LiveFeed feed;
        PageServer(feed, {});
        return true;
    } catch (const PageError& error) {
        MESSAGE("skipped: ", error.what());
        return false;
    }
}

std::string request(const std::string& line, const std::string& host) {
    return line + " HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n";
}

std::string answer(const PageServer& server, const std::string& path, const std::string& host = "127.0.0.1") {
    const LoopbackPeer peer(LoopbackPeer::connect(server.port()));
    peer.send(request("GET " + path, host));
    return peer.receive(1 << 20);
}

bool is(const std::string& answer, int status) {
    return answer.starts_with("HTTP/1.1 " + std::to_string(status));
}

bool says(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

Snapshot locked(const std::string& event) {
    return {.event = event, .status = "{\"lock\":true}", .metrics = "lock 1\n", .healthy = true};
}

}  // namespace

TEST_CASE("feed: who waits gets the newest snapshot, and who is slow misses some") {
    LiveFeed feed;
    CHECK(feed.newest() == nullptr);
    CHECK(feed.wait(0, 1ms) == nullptr);
    feed.publish(locked("a"));
    feed.publish(locked("b"));
    CHECK(feed.wait(0, 1ms)->event == "b");
    CHECK(feed.wait(2, 1ms) == nullptr);
    std::thread other([&] { feed.publish(locked("c")); });
    CHECK(feed.wait(2, 60s)->event == "c");
    other.join();
}

TEST_CASE("feed: once it is closed nobody waits, but what came last is still told") {
    LiveFeed feed;
    feed.publish(locked("last"));
    feed.close();
    CHECK(feed.is_closed());
    CHECK(feed.wait(0, 60s)->event == "last");
    CHECK(feed.wait(1, 60s) == nullptr);
}

TEST_CASE("server: the page, its files, and values for programs") {
    if (!has_server()) return;
    LiveFeed feed;
    const PageServer server(feed, {});
    CHECK(is(answer(server, "/healthz"), 503));
    CHECK(is(answer(server, "/status"), 200));
    feed.publish(locked("{}"));
    const std::string page = answer(server, "/");
    CHECK(is(page, 200));
    CHECK(says(page, "<title>Tidemill"));
    CHECK(says(page, "Content-Security-Policy: default-src 'self'"));
    CHECK_FALSE(says(page, "Access-Control"));
    CHECK(says(answer(server, "/page.js"), "EventSource"));
    CHECK(says(answer(server, "/page.css"), "text/css"));
    CHECK(says(answer(server, "/status"), "{\"lock\":true}"));
    CHECK(says(answer(server, "/metrics"), "lock 1\n"));
    CHECK(is(answer(server, "/healthz"), 200));
    CHECK(is(answer(server, "/nothing"), 404));
    CHECK(is(answer(server, "/../../etc/passwd"), 404));
}

TEST_CASE("server: who asks for another host is refused, whatever leads here") {
    if (!has_server()) return;
    LiveFeed feed;
    feed.publish(locked("{}"));
    const PageServer server(feed, {});
    for (const char* host :
         {"evil.example", "evil.example:8080", "127.0.0.1.evil.example", "", "192.168.1.2"}) {
        CAPTURE(host);
        CHECK(is(answer(server, "/status", host), 403));
    }
    for (const char* host : {"localhost", "localhost:8080", "127.0.0.1:1", "[::1]:8080", "[::1]"}) {
        CAPTURE(host);
        CHECK(is(answer(server, "/status", host), 200));
    }
}

TEST_CASE("server: events come as they are published, until the feed is closed") {
    if (!has_server()) return;
    LiveFeed feed;
    const PageServer server(feed, {});
    const LoopbackPeer peer(LoopbackPeer::connect(server.port()));
    peer.send(request("GET /events", "localhost"));
    feed.publish(locked("{\"n\":1}"));
    std::string seen;
    while (!says(seen, "data: {\"n\":1}\n\n")) seen += peer.receive(1);
    feed.publish(locked("{\"n\":2}"));
    feed.close();
    seen += peer.receive(1 << 20);
    CHECK(says(seen, "text/event-stream"));
    CHECK(says(seen, "data: {\"n\":2}\n\n"));
}

TEST_CASE(
    "server: with all places taken by viewers that read nothing, others are told, and health is answered") {
    if (!has_server()) return;
    LiveFeed feed;
    const PageServer server(feed, {.most_viewers = 3});
    std::vector<std::unique_ptr<LoopbackPeer>> viewers;
    for (int i = 0; i < 3; ++i) {
        viewers.push_back(std::make_unique<LoopbackPeer>(LoopbackPeer::connect(server.port())));
        viewers.back()->send(request("GET /events", "localhost"));
        CHECK(viewers.back()->receive(12) == "HTTP/1.1 200");
    }
    CHECK(is(answer(server, "/events"), 503));
    feed.publish(locked("{}"));
    CHECK(is(answer(server, "/healthz"), 200));
    viewers.clear();
    // Whoever has left is noticed at the next sign of life.
    std::string after;
    for (int tries = 0; tries < 100 && !is(after, 200); ++tries) {
        feed.publish(locked("{}"));
        std::this_thread::sleep_for(50ms);
        const LoopbackPeer peer(LoopbackPeer::connect(server.port()));
        peer.send(request("GET /events", "localhost"));
        after = peer.receive(12);
    }
    CHECK(is(after, 200));
}

TEST_CASE("server: nothing can be sent, and rubbish ends the connection") {
    if (!has_server()) return;
    const LiveFeed feed;
    const PageServer server(feed, {});
    const LoopbackPeer poster(LoopbackPeer::connect(server.port()));
    poster.send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello");
    CHECK(poster.receive(1 << 16).starts_with("HTTP/1.1 4"));
    const LoopbackPeer rubbish(LoopbackPeer::connect(server.port()));
    const std::string line(20'000, 'x');
    rubbish.send(line);
    rubbish.send("\r\n\r\n");
    CHECK(rubbish.receive(1 << 16).starts_with("HTTP/1.1 4"));
}

TEST_CASE("server: a port that is taken is an error, and without a port the next free one is used") {
    if (!has_server()) return;
    const LiveFeed feed;
    const LoopbackServer taken;
    CHECK_THROWS_WITH_AS(PageServer(feed, {.port = taken.port()}), doctest::Contains("the port is taken"),
                         PageError);
    const PageServer one(feed, {});
    const PageServer other(feed, {});
    CHECK(one.port() != other.port());
}

}  // namespace tidemill::page
