// The page's feed and server, asked over plain sockets.
#include <atomic>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <sys/resource.h>

#include "tidemill/apps/page/guess_limit.hpp"
#include "tidemill/apps/page/live_feed.hpp"
#include "tidemill/apps/page/page_error.hpp"
#include "tidemill/apps/page/page_guard.hpp"
#include "tidemill/apps/page/page_server.hpp"
#include "tidemill/apps/page/report_file.hpp"
#include "tidemill/testing/loopback_server.hpp"

namespace tidemill::page {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kIsSanitized = true;
#else
constexpr bool kIsSanitized = false;
#endif

using namespace std::chrono_literals;

bool has_server() {
    try {
        const LiveFeed feed;
        const PageServer server(feed, {});
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

}  // namespace

TEST_CASE("feed: who waits gets the newest snapshot, and who is slow misses some") {
    LiveFeed feed;
    CHECK(feed.wait(0, 1ms) == nullptr);
    feed.publish("a");
    feed.publish("b");
    CHECK(feed.wait(0, 1ms)->event == "b");
    CHECK(feed.wait(2, 1ms) == nullptr);
    std::thread other([&] { feed.publish("c"); });
    CHECK(feed.wait(2, 60s)->event == "c");
    other.join();
}

TEST_CASE("feed: once it is closed nobody waits, but what came last is still told") {
    LiveFeed feed;
    feed.publish("last");
    feed.close();
    CHECK(feed.is_closed());
    CHECK(feed.wait(0, 60s)->event == "last");
    CHECK(feed.wait(1, 60s) == nullptr);
}

TEST_CASE("server: the page, its files, and whether all is well") {
    if (!has_server()) return;
    const LiveFeed feed;
    std::atomic<bool> is_healthy{false};
    const PageServer server(feed, {.is_healthy = [&] { return is_healthy.load(); }});
    CHECK(is(answer(server, "/healthz"), 503));
    is_healthy = true;
    CHECK(is(answer(server, "/healthz"), 200));
    const std::string page = answer(server, "/");
    CHECK(is(page, 200));
    CHECK(says(page, "<title>Tidemill"));
    CHECK(says(page, "Content-Security-Policy: default-src 'self'"));
    CHECK_FALSE(says(page, "Access-Control"));
    CHECK(says(answer(server, "/page.js"), "EventSource"));
    CHECK(says(answer(server, "/page.css"), "text/css"));
    CHECK(is(answer(server, "/nothing"), 404));
    CHECK(is(answer(server, "/../../etc/passwd"), 404));
}

TEST_CASE("server: who asks for another host is refused, whatever leads here") {
    if (!has_server()) return;
    LiveFeed feed;
    feed.publish("{}");
    const PageServer server(feed, {});
    for (const char* host : {"evil.example", "evil.example:8080", "127.0.0.1.evil.example", "192.168.1.2"}) {
        CAPTURE(host);
        CHECK(is(answer(server, "/page.css", host), 403));
    }
    for (const char* host : {"localhost", "localhost:8080", "127.0.0.1:1", "[::1]:8080", "[::1]"}) {
        CAPTURE(host);
        CHECK(is(answer(server, "/page.css", host), 200));
    }
}

TEST_CASE("server: a request that names no host, or two, is a bad one") {
    if (!has_server()) return;
    const LiveFeed feed;
    const PageServer server(feed, {});
    const auto ask = [&](const std::string& hosts) {
        const LoopbackPeer peer(LoopbackPeer::connect(server.port()));
        peer.send("GET /page.css HTTP/1.1\r\n" + hosts + "Connection: close\r\n\r\n");
        return peer.receive(1 << 16);
    };
    CHECK(is(ask("Host: localhost\r\n"), 200));
    CHECK(is(ask(""), 400));
    CHECK(is(ask("Host: \r\n"), 400));
    CHECK(is(ask("Host: localhost\r\nHost: evil.example\r\n"), 400));
    CHECK(is(ask("Host: localhost\r\nhost: localhost\r\n"), 400));
}

TEST_CASE("server: events come as they are published, until the feed is closed") {
    if (!has_server()) return;
    LiveFeed feed;
    const PageServer server(feed, {});
    const LoopbackPeer peer(LoopbackPeer::connect(server.port()));
    peer.send(request("GET /events", "localhost"));
    feed.publish("{\"n\":1}");
    std::string seen;
    while (!says(seen, "data: {\"n\":1}\n\n")) seen += peer.receive(1);
    feed.publish("{\"n\":2}");
    feed.close();
    seen += peer.receive(1 << 20);
    CHECK(says(seen, "text/event-stream"));
    CHECK(says(seen, "data: {\"n\":2}\n\n"));
}

TEST_CASE(
    "server: with all places taken by viewers that read nothing, others are told, and health is answered") {
    if (!has_server()) return;
    LiveFeed feed;
    const PageServer server(feed, {.most_viewers = 3, .is_healthy = [] { return true; }});
    std::vector<std::unique_ptr<LoopbackPeer>> viewers;
    for (int i = 0; i < 3; ++i) {
        viewers.push_back(std::make_unique<LoopbackPeer>(LoopbackPeer::connect(server.port())));
        viewers.back()->send(request("GET /events", "localhost"));
        CHECK(viewers.back()->receive(12) == "HTTP/1.1 200");
    }
    CHECK(is(answer(server, "/events"), 503));
    feed.publish("{}");
    CHECK(is(answer(server, "/healthz"), 200));
    viewers.clear();
    // A viewer that has left is noticed at the next sign of life.
    std::string after;
    for (int tries = 0; tries < 100 && !is(after, 200); ++tries) {
        feed.publish("{}");
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

TEST_CASE("server: an action wants the token and the page's own origin, and nothing else can be sent") {
    if (!has_server()) return;
    const LiveFeed feed;
    std::atomic<int> done{0};
    const PageServer server(feed, {}, {}, {{"/do", [&](const std::string& body) -> PageAnswer {
                                                ++done;
                                                return {202, "did " + body};
                                            }}});
    const std::string token = server.url().substr(server.url().find('#') + 1);
    CHECK(token.size() == 32);
    const auto post = [&](const std::string& headers, const std::string& path = "/do") {
        const LoopbackPeer peer(LoopbackPeer::connect(server.port()));
        peer.send("POST " + path + " HTTP/1.1\r\nHost: localhost:1\r\nContent-Length: 2\r\n" + headers +
                  "\r\nok");
        return peer.receive(1 << 16);
    };
    const std::string own = "Origin: http://localhost:1\r\n";
    const std::string known = "X-Tidemill-Token: " + token + "\r\n";
    for (const std::string& wrong :
         {std::string(), own, known, "Origin: http://evil.example\r\n" + known, "Origin: null\r\n" + known,
          own + "X-Tidemill-Token: " + std::string(32, '0') + "\r\n", own + "X-Tidemill-Token:\r\n"}) {
        CAPTURE(wrong);
        CHECK(is(post(wrong), 403));
    }
    CHECK(done == 0);
    const std::string answered = post(own + known);
    CHECK(is(answered, 202));
    CHECK(says(answered, "did ok"));
    CHECK_FALSE(says(answered, "Access-Control"));
    CHECK(is(post(own + known, "/other"), 404));
    CHECK(is(answer(server, "/do"), 404));
    CHECK(done == 1);
}

TEST_CASE("server: others than this machine need a password, and then the right one") {
    if (!has_server()) return;
    LiveFeed feed;
    feed.publish("{}");
    CHECK_THROWS_WITH_AS(PageServer(feed, {.address = "0.0.0.0"}), doctest::Contains("give a password"),
                         PageError);
    const PageServer server(feed,
                            {.address = "0.0.0.0", .hosts = {"Radio.local"}, .password = "correct horse"});
    CHECK(server.url().starts_with("http://Radio.local:"));
    const auto ask = [&](const std::string& host, const std::string& authorization) {
        const LoopbackPeer peer(LoopbackPeer::connect(server.port()));
        peer.send("GET /page.css HTTP/1.1\r\nHost: " + host + "\r\n" + authorization + "\r\n");
        return peer.receive(1 << 16);
    };
    const std::string right =
        "Authorization: Basic YW55Ym9keTpjb3JyZWN0IGhvcnNl\r\n";  // anybody:correct horse
    CHECK(is(ask("radio.local", right), 200));
    CHECK(is(ask("localhost", right), 200));
    CHECK(is(ask("evil.example", right), 403));
    CHECK(says(ask("radio.local", ""), "WWW-Authenticate: Basic"));
    for (const char* wrong :
         {"", "Basic ", "Basic !!!!", "Basic Y29ycmVjdCBob3JzZQ==", "Bearer x", "Basic YTpj"}) {
        CAPTURE(wrong);
        CHECK(is(ask("radio.local", std::string("Authorization: ") + wrong + "\r\n"), 401));
    }
}

TEST_CASE("server: whoever guesses passwords has to wait, and one line tells of him") {
    if (!has_server()) return;
    const LiveFeed feed;
    std::vector<std::string> told;
    std::mutex mutex;
    const PageServer server(feed, {.password = "correct horse", .warn = [&](const std::string& line) {
                                       const std::lock_guard lock(mutex);
                                       told.push_back(line);
                                   }});
    const auto ask = [&](const std::string& authorization) {
        const LoopbackPeer peer(LoopbackPeer::connect(server.port()));
        peer.send("GET /page.css HTTP/1.1\r\nHost: localhost\r\n" + authorization + "\r\n");
        return peer.receive(1 << 16);
    };
    const std::string wrong = "Authorization: Basic YTpi\r\n";
    const std::string right = "Authorization: Basic YW55Ym9keTpjb3JyZWN0IGhvcnNl\r\n";
    for (int guess = 0; guess < GuessLimit::kFree - 1; ++guess) CHECK(is(ask(wrong), 401));
    CHECK(is(ask(right), 200));  // and all is forgotten
    for (int asked = 0; asked < 20; ++asked) CHECK(is(ask(""), 401));
    for (int guess = 0; guess < GuessLimit::kFree; ++guess) CHECK(is(ask(wrong), 401));
    for (int guess = 0; guess < 3; ++guess) CHECK(is(ask(wrong), 429));
    CHECK(is(ask(right), 429));
    const std::lock_guard lock(mutex);
    REQUIRE(told.size() == 1);
    CHECK(told[0] == "the page's password is being guessed from 127.0.0.1");
}

TEST_CASE("guesses: each further wrong one waits twice as long, of many sources a bounded number is known") {
    GuessLimit limit;
    GuessLimit::Time now{};
    for (int guess = 1; guess < GuessLimit::kFree; ++guess) CHECK_FALSE(limit.wrong("a", now));
    CHECK_FALSE(limit.must_wait("a", now));
    int guesses = 0;
    for (const auto end = now + 1h; now < end; now += 1s) {
        if (limit.must_wait("a", now)) continue;
        CHECK(limit.wrong("a", now) == (guesses == 0));
        ++guesses;
    }
    CHECK(guesses < 70);
    CHECK_FALSE(limit.must_wait("b", now));
    limit.right("a");
    CHECK_FALSE(limit.must_wait("a", now));
    for (std::size_t k = 0; k < 3 * GuessLimit::kMostSources; ++k) limit.wrong("x" + std::to_string(k), now);
    for (int guess = 0; guess < GuessLimit::kFree; ++guess) limit.wrong("a", now);
    CHECK(limit.must_wait("a", now));
}

TEST_CASE("guesses: of IPv6 a customer's network is one source") {
    CHECK(source_of("192.168.1.5") == "192.168.1.5");
    CHECK(source_of("2001:db8:1:2::3") == source_of("2001:db8:1:2:ffff::1"));
    CHECK(source_of("2001:db8:1:2::3") != source_of("2001:db8:1:3::3"));
    CHECK(source_of("::ffff:10.0.0.1") != source_of("::ffff:10.0.0.2"));
}

TEST_CASE("server: a head or a body without an end, and one that trickles, end the connection") {
    if (!has_server()) return;
    const LiveFeed feed;
    const PageServer server(feed, {});
    const LoopbackPeer endless(LoopbackPeer::connect(server.port()));
    endless.send("GET / HTTP/1.1\r\nHost: localhost\r\n");
    const std::string header = "X-Header: " + std::string(100, 'x') + "\r\n";
    for (int i = 0; i < 1000 && endless.send(header); ++i) {
    }
    CHECK_FALSE(endless.receive(1 << 16).starts_with("HTTP/1.1 200"));
    const LoopbackPeer large(LoopbackPeer::connect(server.port()));
    large.send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000000\r\n\r\nx");
    CHECK_FALSE(large.receive(1 << 16).starts_with("HTTP/1.1 200"));
    const LoopbackPeer silent(LoopbackPeer::connect(server.port()));
    silent.send("GET / HT");
    silent.receive(1);  // comes back: somebody has ended it
}

TEST_CASE(
    "server: with all places stalled and many who send nothing, health is answered, and the oldest of them "
    "give way") {
    if (!has_server()) return;
    const LiveFeed feed;
    const PageServer server(feed, {.most_viewers = 2, .is_healthy = [] { return true; }});
    std::vector<std::unique_ptr<LoopbackPeer>> silent;
    for (int i = 0; i < 50; ++i)
        silent.push_back(std::make_unique<LoopbackPeer>(LoopbackPeer::connect(server.port())));
    CHECK(is(answer(server, "/healthz"), 200));
    CHECK(is(answer(server, "/page.js"), 200));
    for (int round = 0; round < 5; ++round) {
        for (int i = 0; i < 100; ++i) {
            silent.push_back(std::make_unique<LoopbackPeer>(LoopbackPeer::connect(server.port())));
            silent.back()->send("GET /healthz HTTP/1.1\r\nHost: local");
        }
        CHECK(is(answer(server, "/healthz"), 200));
        CHECK(is(answer(server, "/page.js"), 200));
    }
    CHECK(silent.front()->receive(1).empty());
}

TEST_CASE("server: a document is made anew for a later reader, and shared by those of one moment") {
    if (!has_server()) return;
    const LiveFeed feed;
    std::atomic<int> made{0};
    const std::string large(4 << 20, 'x');  // more than the system's buffers hold
    const PageServer server(feed, {},
                            {{"/made", "text/plain", [&] { return "number " + std::to_string(++made); }},
                             {"/large", "text/plain", [&] { return std::to_string(++made) + large; }}});
    CHECK(says(answer(server, "/made"), "number 1"));
    while (!says(answer(server, "/made"), "number 2")) CHECK(made < 3);
    CHECK(server.url().ends_with("/"));  // nothing can be changed: no token
    const int before = made;
    std::vector<std::unique_ptr<LoopbackPeer>> stalled;
    for (int i = 0; i < 20; ++i) {
        stalled.push_back(std::make_unique<LoopbackPeer>(LoopbackPeer::connect(server.port())));
        stalled.back()->send(request("GET /large", "localhost"));
        stalled.back()->receive(15);
    }
    CHECK(made - before < 20);
}

TEST_CASE("server: ranges and compression are ignored, so that an answer is as long as its document") {
    if (!has_server()) return;
    const LiveFeed feed;
    const std::string text(100'000, 'x');
    const PageServer server(feed, {}, {{"/made", "text/plain", [&] { return text; }}});
    std::string ranges = "Range: bytes=0-";
    while (ranges.size() < 8000) ranges += ",0-";
    for (const std::string& header : {ranges, std::string("Range: bytes=5-9"), std::string("Range: bytes=-1"),
                                      std::string("Accept-Encoding: br, gzip")}) {
        CAPTURE(header.substr(0, 40));
        const LoopbackPeer peer(LoopbackPeer::connect(server.port()));
        peer.send("GET /made HTTP/1.1\r\nHost: localhost\r\n" + header + "\r\n\r\n");
        const std::string got = peer.receive(1 << 20);
        CHECK(is(got, 200));
        CHECK(got.size() > text.size());
        CHECK(got.size() < text.size() + 1000);
    }
    const auto most_kib = [] {
        rusage usage{};
        ::getrusage(RUSAGE_SELF, &usage);
        return usage.ru_maxrss;
    };
    const long before = most_kib();
    std::vector<std::unique_ptr<LoopbackPeer>> peers;
    for (int i = 0; i < 24; ++i) {
        peers.push_back(std::make_unique<LoopbackPeer>(LoopbackPeer::connect(server.port())));
        peers.back()->send("GET /made HTTP/1.1\r\nHost: localhost\r\nraNge: bytes=" + std::string(8000, '0') +
                           "\r\n\r\n");
    }
    for (const auto& peer : peers) CHECK(is(peer->receive(1 << 20), 200));
    // An expression that is matched over 8000 digits took 4 MB of each thread's stack.
    if (!kIsSanitized) CHECK(most_kib() - before < 24 << 10);
}

TEST_CASE("server: no request makes an answer larger than what it asks for") {
    if (!has_server()) return;
    const unsigned seed = 1;
    CAPTURE(seed);
    std::minstd_rand random(seed);
    LiveFeed feed;
    const std::string text(50'000, 'x');
    const PageServer server(feed, {}, {{"/made", "application/json", [&] { return text; }}},
                            {{"/do", [](const std::string& body) -> PageAnswer {
                                  return {200, body};
                              }}});
    const std::vector<std::string> methods{
        "GET", "HEAD", "POST", "PUT", "OPTIONS", "PRI", std::string("G\0T", 3), "DELETE"};
    const std::vector<std::string> paths{"/made", "/", "/do", "/page.js", "/made?a=b&c", "/%2e%2e/%00", "*"};
    const std::vector<std::string> headers{"Range: bytes=",
                                           "Accept-Encoding: br, gzip",
                                           "Content-Length: 7",
                                           "Transfer-Encoding: chunked",
                                           "Expect: 100-continue",
                                           "Connection: keep-alive",
                                           "If-Range: \"x\"",
                                           "Content-Type: multipart/form-data",
                                           "Cookie: a",
                                           "Upgrade: h2c",
                                           "Content-Length: -1",
                                           "X: "};
    const auto any = [&](const auto& from) { return from[random() % from.size()]; };
    for (int i = 0; i < 100; ++i) {
        std::string ask = any(methods) + " " + any(paths) + " HTTP/1." + (random() % 8 == 0 ? "0" : "1") +
                          "\r\nHost: localhost\r\n";
        for (auto n = random() % 5; n > 0; --n) {
            std::string header = any(headers);
            for (auto k = random() % 200; k > 0; --k)
                header += any(std::vector<std::string>{"0-,", "-1,", "a"});
            ask += header + "\r\n";
        }
        CAPTURE(ask);
        const LoopbackPeer peer(LoopbackPeer::connect(server.port()));
        peer.send(ask + "\r\n5\r\nhello\r\n");
        ::shutdown(peer.socket(), SHUT_WR);
        CHECK(peer.receive(1 << 20).size() < 100'000);
    }
    CHECK(is(answer(server, "/page.js"), 200));
}

TEST_CASE("server: a document that cannot be made ends its connection alone") {
    if (!has_server()) return;
    const LiveFeed feed;
    const PageServer server(feed, {},
                            {{"/none", "text/plain", []() -> std::string { throw std::bad_alloc(); }}});
    for (int i = 0; i < 3; ++i) CHECK_FALSE(is(answer(server, "/none"), 200));
    CHECK(is(answer(server, "/page.js"), 200));
}

TEST_CASE("server: a viewer that reads nothing loses its place to one that does") {
    if (!has_server()) return;
    LiveFeed feed;
    const PageServer server(feed, {.most_viewers = 1});
    const LoopbackPeer silent(LoopbackPeer::connect(server.port()));
    silent.send(request("GET /events", "localhost"));
    CHECK(silent.receive(15).starts_with("HTTP/1.1 200"));
    CHECK(is(answer(server, "/events"), 503));
    const std::string event(100'000, 'x');
    while (server.viewers() > 0) feed.publish(event);
    const LoopbackPeer reader(LoopbackPeer::connect(server.port()));
    reader.send(request("GET /events", "localhost"));
    CHECK(reader.receive(15).starts_with("HTTP/1.1 200"));
}

TEST_CASE("server: another site may link to the page, and load nothing of it") {
    if (!has_server()) return;
    LiveFeed feed;
    feed.publish("{}");
    const PageServer server(feed, {});
    const auto ask = [&](const std::string& path, const std::string& headers) {
        const LoopbackPeer peer(LoopbackPeer::connect(server.port()));
        peer.send("GET " + path + " HTTP/1.1\r\nHost: localhost:1\r\n" + headers + "\r\n");
        return peer.receive(15);
    };
    const std::string cross = "Sec-Fetch-Site: cross-site\r\n", same_site = "Sec-Fetch-Site: same-site\r\n";
    for (const std::string& foreign :
         {cross, same_site, cross + "Sec-Fetch-Mode: cors\r\n",
          std::string("Origin: http://evil.example\r\n"), std::string("Origin: null\r\n")}) {
        CAPTURE(foreign);
        CHECK(is(ask("/events", foreign), 403));
        CHECK(is(ask("/page.js", foreign), 403));
    }
    CHECK(is(ask("/", cross + "Sec-Fetch-Mode: navigate\r\n"), 200));
    for (const std::string& own :
         {std::string("Sec-Fetch-Site: same-origin\r\n"), std::string("Sec-Fetch-Site: none\r\n"),
          std::string("Origin: http://localhost:1\r\n")})
        CHECK(is(ask("/events", own), 200));
}

TEST_CASE("report: the page in one file, whose data end no element") {
    const std::string page = report_file(R"({"name": "</script><img src=x>"})");
    CHECK(says(page, R"("\u003c/script>\u003cimg src=x>")"));
    CHECK_FALSE(says(page, "src=\"/"));
    CHECK_FALSE(says(page, "href=\"/"));
    CHECK_FALSE(says(page, "\nimport "));
    CHECK_FALSE(says(page, "\nexport "));
    CHECK(says(page, "default-src 'none'"));
}

TEST_CASE("guard: loopback is what only this machine reaches") {
    for (const char* address : {"127.0.0.1", "127.9.9.9", "::1"}) CHECK(is_loopback(address));
    for (const char* address : {"0.0.0.0", "::", "192.168.1.1", "127.example.com", "", "localhost"})
        CHECK_FALSE(is_loopback(address));
    CHECK(from_base64("YTpi") == "a:b");
    CHECK(from_base64("YTo=") == "a:");
    CHECK(from_base64("*") == "");
}

}  // namespace tidemill::page
