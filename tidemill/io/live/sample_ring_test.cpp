#include "tidemill/io/live/sample_ring.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <latch>
#include <numeric>
#include <thread>

#include <doctest/doctest.h>

#include "tidemill/io/io_error.hpp"
#include "tidemill/io/live/stream_reader.hpp"

namespace tidemill::io {
namespace {

using Sample = std::uint16_t;  // as many bytes as one of ci8

// Samples that count from one, in pieces; then it waits, fails or ends.
class Counting final : public LiveSource {
  public:
    enum class Then { end, fail, wait };

    Counting(std::size_t samples, Then then) : samples_(samples), then_(then) {}

    dsp::SampleFormat format() const override { return dsp::SampleFormat::ci8; }
    std::optional<double> sample_rate_hz() const override { return 1e6; }
    bool begin() override { return true; }
    void end() noexcept override {
        if (!over_.test_and_set()) ended_.count_down();
    }
    std::size_t read(std::span<std::byte> to) override {
        const std::size_t count = std::min(to.size() / sizeof(Sample), samples_ - given_);
        if (count == 0) return finish();
        std::vector<Sample> piece(count);
        std::iota(piece.begin(), piece.end(), static_cast<Sample>(given_ + 1));
        std::memcpy(to.data(), piece.data(), count * sizeof(Sample));
        given_ += count;
        return count * sizeof(Sample);
    }
    void wait_until_all_given() { all_given_.wait(); }

  private:
    std::size_t finish() {
        all_given_.count_down();
        if (then_ == Then::fail) throw IoError("the radio is gone");
        if (then_ == Then::wait) ended_.wait();
        return 0;
    }

    const std::size_t samples_;
    const Then then_;
    std::size_t given_ = 0;
    std::atomic_flag over_{};
    std::latch ended_{1}, all_given_{1};
};

// Pieces of a hundred samples; before the third, fifty are said to be missing.
class Losing final : public LiveSource {
  public:
    static constexpr int kPieces = 4;

    dsp::SampleFormat format() const override { return dsp::SampleFormat::ci8; }
    std::optional<double> sample_rate_hz() const override { return 1e6; }
    bool begin() override { return true; }
    void end() noexcept override {}
    std::size_t read(std::span<std::byte> to) override {
        if (given_ == kPieces) return 0;
        if (++given_ == 3) losses_ = {.gaps = 1, .samples = 50, .estimated = 50};
        std::ranges::fill(to.first(100 * sizeof(Sample)), std::byte{1});
        return 100 * sizeof(Sample);
    }
    SampleLosses losses() const override { return losses_; }

  private:
    int given_ = 0;
    SampleLosses losses_{};
};

// Some samples, then silence for many that it has counted as missing, and the end.
class Stalled final : public LiveSource {
  public:
    static constexpr std::size_t kSamples = 500'000, kSilence = kSamples - 1000;

    dsp::SampleFormat format() const override { return dsp::SampleFormat::ci8; }
    std::optional<double> sample_rate_hz() const override { return 1e6; }
    bool begin() override { return true; }
    void end() noexcept override {}
    std::size_t read(std::span<std::byte> to) override {
        const std::size_t until = given_ < kSamples - kSilence ? kSamples - kSilence : kSamples;
        const std::size_t count = std::min(to.size() / sizeof(Sample), until - given_);
        if (count == 0) all_given_.count_down();
        if (given_ >= kSamples - kSilence) losses_ = {.gaps = 1, .samples = kSilence};
        std::ranges::fill(to.first(count * sizeof(Sample)), std::byte{losses_.gaps == 0});
        given_ += count;
        return count * sizeof(Sample);
    }
    SampleLosses losses() const override { return losses_; }
    void wait_until_all_given() { all_given_.wait(); }

  private:
    std::size_t given_ = 0;
    SampleLosses losses_{};
    std::latch all_given_{1};
};

std::vector<Sample> read_all(LiveSource& ring, std::size_t at_a_time) {
    std::vector<Sample> all, piece(at_a_time);
    while (const std::size_t bytes = ring.read(std::as_writable_bytes(std::span(piece))))
        all.insert(all.end(), piece.begin(), piece.begin() + static_cast<long>(bytes / sizeof(Sample)));
    return all;
}

// How many samples there are before the first that does not count on.
std::size_t counted_on(std::span<const Sample> samples, std::size_t from) {
    std::size_t count = 0;
    while (count < samples.size() && samples[count] == static_cast<Sample>(from + count + 1)) ++count;
    return count;
}

}  // namespace

TEST_CASE("sample ring: where the source waits, all samples pass, whatever the ring holds") {
    for (const std::size_t samples : {0, 1, 5000, 700001}) {
        for (const std::size_t at_a_time : {1000, 1 << 20}) {
            CAPTURE(samples);
            SampleRing ring(std::make_unique<Counting>(samples, Counting::Then::end), {.seconds = 0});
            REQUIRE(ring.begin());
            const std::vector<Sample> all = read_all(ring, at_a_time);
            CHECK(all.size() == samples);
            CHECK(counted_on(all, 0) == samples);
            CHECK(ring.losses().samples == 0);
        }
    }
}

TEST_CASE("sample ring: what finds it full is counted, and given out as silence of its length") {
    constexpr std::size_t kSamples = 500000;
    auto owned = std::make_unique<Counting>(kSamples, Counting::Then::end);
    Counting& source = *owned;
    SampleRing ring(std::move(owned), {.seconds = 0, .drops = true});
    REQUIRE(ring.begin());
    source.wait_until_all_given();
    const std::vector<Sample> all = read_all(ring, 4096);
    CHECK(all.size() == kSamples);
    const std::size_t kept = counted_on(all, 0);
    CHECK(kept == ring.fill().capacity);
    CHECK(kept == ring.fill().most_filled);
    CHECK(std::ranges::count(std::span(all).subspan(kept), 0) == static_cast<long>(kSamples - kept));
    CHECK(ring.losses().gaps == 1);
    CHECK(ring.losses().samples == kSamples - kept);
    REQUIRE(ring.latest_gaps().size() == 1);
    CHECK(ring.latest_gaps()[0].at == kept);
    CHECK(ring.latest_gaps()[0].samples == kSamples - kept);
}

TEST_CASE("sample ring: where a source has lost samples is told by their number") {
    SampleRing ring(std::make_unique<Losing>());
    REQUIRE(ring.begin());
    CHECK(read_all(ring, 4096).size() == Losing::kPieces * 100);
    CHECK(ring.losses().samples == 50);
    REQUIRE(ring.latest_gaps().size() == 1);
    CHECK(ring.latest_gaps()[0].at == 200);
    CHECK(ring.latest_gaps()[0].samples == 50);
    CHECK(ring.latest_gaps()[0].estimated == 50);
}

TEST_CASE(
    "sample ring: silence of a source for what it has counted is not counted again where the ring is full") {
    auto owned = std::make_unique<Stalled>();
    Stalled& source = *owned;
    SampleRing ring(std::move(owned), {.seconds = 0, .drops = true});
    REQUIRE(ring.begin());
    source.wait_until_all_given();
    const std::vector<Sample> all = read_all(ring, 4096);
    CHECK(all.size() == Stalled::kSamples);
    CHECK(std::ranges::count(all, 0) == static_cast<long>(Stalled::kSilence));
    CHECK(ring.losses().gaps == 1);
    CHECK(ring.losses().samples == Stalled::kSilence);
}

TEST_CASE("sample ring: what an earlier run has missed is a gap before the first sample") {
    SampleRing ring(std::make_unique<Counting>(1000, Counting::Then::end));
    ring.missed_before(5000);
    REQUIRE(ring.begin());
    CHECK(read_all(ring, 4096).size() == 1000);
    CHECK(ring.losses().samples == 5000);
    CHECK(ring.losses().estimated == 5000);
    REQUIRE(ring.latest_gaps().size() == 1);
    CHECK(ring.latest_gaps()[0].at == 0);
}

TEST_CASE("sample ring: behind a gap samples go on with their number") {
    constexpr std::size_t kSamples = 400000;
    auto owned = std::make_unique<Counting>(kSamples, Counting::Then::end);
    SampleRing ring(std::move(owned), {.seconds = 0, .drops = true});
    REQUIRE(ring.begin());
    std::vector<Sample> all = read_all(ring, 100);  // races with the source: gaps may lie anywhere
    CHECK(all.size() == kSamples);
    std::uint64_t silent = 0;
    bool right = true;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const bool counts = all[i] == static_cast<Sample>(i + 1);
        silent += !counts;
        right = right && (counts || all[i] == 0);
    }
    CHECK(right);
    CHECK(silent <= ring.losses().samples);  // a number may be nought
    for (const SampleGap& gap : ring.latest_gaps())
        for (std::uint64_t k = gap.at; k < gap.at + gap.samples; ++k) right = right && all.at(k) == 0;
    CHECK(right);
}

TEST_CASE("sample ring: an error comes behind the samples before it, once") {
    SampleRing ring(std::make_unique<Counting>(3, Counting::Then::fail));
    REQUIRE(ring.begin());
    std::array<std::byte, 64> bytes{};
    CHECK(ring.read(bytes) == 3 * sizeof(Sample));
    CHECK_THROWS_WITH_AS(ring.read(bytes), "the radio is gone", IoError);
    CHECK(ring.read(bytes) == 0);
}

TEST_CASE("sample ring: who waits is told of the end, and the beginning is read no longer than it comes") {
    SampleRing ring(std::make_unique<Counting>(3, Counting::Then::wait));
    REQUIRE(ring.begin());
    CHECK(read_beginning(ring, 6, true).size() == 6);
    std::array<std::byte, 64> bytes{};
    CHECK(ring.read(bytes, std::chrono::milliseconds(0)) == 0);
    std::thread reader([&] { CHECK(ring.read(bytes) == 0); });
    ring.end();
    reader.join();
    CHECK(ring.read(bytes) == 0);
}

TEST_CASE("ring: that nothing comes any more is seen, and neither what waits nor an end is taken for it") {
    auto owned = std::make_unique<Counting>(1000, Counting::Then::wait);
    Counting& source = *owned;
    SampleRing ring(std::move(owned));
    REQUIRE(ring.begin());
    source.wait_until_all_given();
    CHECK(ring.silent_for().count() == 0);  // they wait to be read
    std::vector<Sample> samples(1000);
    REQUIRE(ring.read(std::as_writable_bytes(std::span(samples))) == 2000);
    while (ring.silent_for() == std::chrono::nanoseconds(0)) std::this_thread::yield();
    ring.end();
    CHECK(ring.silent_for().count() == 0);
}

TEST_CASE("ring: behind a gap nothing old is given out, and all that is left out is counted") {
    auto owned = std::make_unique<Counting>(400'000, Counting::Then::wait);
    Counting& source = *owned;
    SampleRing ring(std::move(owned), {.seconds = 0.2, .drops = true});
    REQUIRE(ring.begin());
    source.wait_until_all_given();
    CHECK(ring.losses().samples == 200'000);
    CHECK(ring.skip_behind_gap(1000));
    CHECK(ring.losses().samples == 401'000);
    CHECK(ring.losses().gaps == 1);
    CHECK(ring.fill().filled == 0);
    CHECK_FALSE(ring.skip_behind_gap(1000));
    CHECK(ring.losses().samples == 401'000);
    CHECK(ring.skipped() == 400'000);
    ring.end();
}

TEST_CASE("ring: time is short while more than half of it waits, if what finds it full is lost") {
    for (const bool drops : {true, false}) {
        auto owned = std::make_unique<Counting>(150'000, Counting::Then::wait);
        Counting& source = *owned;
        SampleRing ring(std::move(owned), {.seconds = 0.2, .drops = drops});
        REQUIRE(ring.begin());
        source.wait_until_all_given();
        CHECK(ring.is_half_full());
        CHECK(ring.is_short_of_time() == drops);
        std::vector<Sample> samples(60'000);
        for (std::size_t read = 0; read < 60'000;)
            read += ring.read(std::as_writable_bytes(std::span(samples).subspan(read))) / sizeof(Sample);
        CHECK_FALSE(ring.is_short_of_time());
        CHECK_FALSE(ring.is_half_full());
        ring.end();
    }
}

TEST_CASE("ring: what its reader waits for samples is told, and nothing where they are there") {
    auto owned = std::make_unique<Counting>(1000, Counting::Then::wait);
    Counting& source = *owned;
    SampleRing ring(std::move(owned));
    REQUIRE(ring.begin());
    source.wait_until_all_given();
    std::vector<Sample> samples(1000);
    CHECK(ring.read(std::as_writable_bytes(std::span(samples))) == 2000);
    CHECK(ring.waited() == std::chrono::nanoseconds(0));
    constexpr std::chrono::milliseconds kPatience{5};
    CHECK(ring.read(std::as_writable_bytes(std::span(samples)), kPatience) == 0);
    CHECK(ring.waited() >= kPatience);
    ring.end();
}

}  // namespace tidemill::io
