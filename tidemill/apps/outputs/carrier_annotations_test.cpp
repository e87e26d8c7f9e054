#include "tidemill/apps/outputs/carrier_annotations.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace tidemill::cli {
namespace {

std::vector<std::string> texts_of(const CarrierAnnotations& annotations) {
    std::vector<std::string> texts;
    for (const io::SigmfAnnotation& each : annotations.all())
        texts.push_back(fmt::format("{}+{} {}{}", each.start, each.count, each.label, each.comment));
    return texts;
}

}  // namespace

TEST_CASE("annotations: locks with their MODCODs, anew behind a gap and after long silence") {
    CarrierAnnotations annotations(1000);
    for (std::uint64_t at = 100; at < 2100; at += 100) annotations.frame(at, at + 100, "QPSK 1/2", at == 100);
    for (std::uint64_t at = 2100; at < 4000; at += 100) annotations.frame(at, at + 100, "8PSK 3/4", false);
    annotations.missing(2500, 77);
    annotations.frame(4500, 4600, "8PSK 3/4", true);
    annotations.frame(9000, 9100, "8PSK 3/4", false);
    CHECK(texts_of(annotations) ==
          std::vector<std::string>{"100+3900 lock", "100+2000 QPSK 1/2", "2100+1900 8PSK 3/4",
                                   "2500+0 gap77 samples are missing here", "4500+100 lock",
                                   "4500+100 8PSK 3/4", "9000+100 lock", "9000+100 8PSK 3/4"});
}

TEST_CASE("annotations: a frame or two between two gaps belong to the lock that begins there") {
    CarrierAnnotations annotations(1000);
    for (std::uint64_t at = 0; at < 1000; at += 100) annotations.frame(at, at + 100, "QPSK 1/2", at == 0);
    annotations.frame(1500, 1600, "QPSK 1/2", true);
    annotations.frame(1700, 1800, "QPSK 1/2", true);
    for (std::uint64_t at = 1900; at < 3000; at += 100)
        annotations.frame(at, at + 100, "QPSK 1/2", at == 1900);
    // One that had begun before the signal went, and ends behind it.
    annotations.frame(5000, 5100, "QPSK 1/2", false);
    annotations.frame(5200, 5300, "QPSK 1/2", true);
    CHECK(texts_of(annotations) == std::vector<std::string>{"0+1000 lock", "0+1000 QPSK 1/2",
                                                            "1500+1500 lock", "1500+1500 QPSK 1/2",
                                                            "5000+300 lock", "5000+300 QPSK 1/2"});
}

TEST_CASE("annotations: MODCODs that take turns are told together, and there are never too many") {
    CarrierAnnotations annotations(1000);
    for (std::uint64_t at = 0; at < 100000; at += 100)
        annotations.frame(at, at + 100, at % 200 == 0 ? "QPSK 1/2" : "8PSK 3/4", false);
    CHECK(texts_of(annotations) == std::vector<std::string>{"0+100000 lock", "0+100000 8PSK 3/4, QPSK 1/2"});
    for (std::uint64_t at = 100000; at < 10'000'000; at += 100)
        annotations.frame(at, at + 50, "QPSK 1/2", at % 400 == 0);
    CHECK(annotations.all().size() <= CarrierAnnotations::kMost + 1);
    CHECK(annotations.all().back().start + annotations.all().back().count <= 10'000'000);
}

}  // namespace tidemill::cli
