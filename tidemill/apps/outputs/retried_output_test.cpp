#include "tidemill/apps/outputs/retried_output.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/apps/outputs/output_fan.hpp"
#include "tidemill/io/io_error.hpp"

namespace tidemill::cli {
namespace {

// Content of a file on a disk, and the disk's room.
struct Disk {
    std::string file{};
    std::size_t room = 0;
    int opened = 0;
    bool may_be_opened = true;
};

class DiskOutput final : public ByteOutput {
  public:
    explicit DiskOutput(Disk& disk) : disk_(disk) {
        if (!disk.may_be_opened) throw io::IoError("no such folder");
        ++disk.opened;
    }

    // As much as there is room for is written, and not counted: a file goes on behind what is whole.
    void write(std::span<const std::uint8_t> piece) override {
        const std::size_t fits = std::min(piece.size(), disk_.room - disk_.file.size());
        disk_.file.append(piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(fits));
        if (fits == piece.size()) return void(whole_ = disk_.file.size());
        kept_back_ = piece.size();
        throw io::IoError("the disk is full");
    }
    void close() override {}
    OutputAt at() const override { return {.bytes = whole_}; }
    void go_on_at(const OutputAt& at) override { disk_.file.resize(whole_ = at.bytes); }
    std::uint64_t bytes_kept_back() const override { return kept_back_; }

  private:
    Disk& disk_;
    std::size_t whole_ = 0, kept_back_ = 0;
};

class Retried {
  public:
    explicit Retried(Disk& disk, std::chrono::milliseconds pause = {})
        : output_(
              "disk", [&disk] { return std::make_unique<DiskOutput>(disk); }, pause) {}

    void write(const std::string& text) {
        output_.write(std::vector<std::uint8_t>(text.begin(), text.end()));
    }
    RetriedOutput& operator*() { return output_; }
    RetriedOutput* operator->() { return &output_; }

  private:
    RetriedOutput output_;
};

}  // namespace

TEST_CASE("retried output: behind a full disk a file goes on in whole pieces, and what is lost is counted") {
    Disk disk{.room = 10};
    Retried output(disk);
    for (const char* piece : {"aaaa", "bbbb", "cccc", "dddd"}) output.write(piece);
    CHECK(output->losses().bytes == 8);
    CHECK(output->at().bytes == 8);
    disk.room = 100;
    output.write("eeee");
    output.write("ffff");
    output->close();
    CHECK(disk.file == "aaaabbbbeeeeffff");
    CHECK(output->losses().bytes == 8);
    CHECK(output->losses().outages == 1);
}

TEST_CASE("retried output: between two tries the place is left alone") {
    Disk disk{.room = 2};
    Retried output(disk, std::chrono::hours(1));
    for (int k = 0; k < 100; ++k) output.write("aaaa");
    CHECK(disk.opened == 1);
    CHECK(output->losses().bytes == 400);
}

TEST_CASE("retried output: one that does not work in the end says why, also where it cannot be opened") {
    Disk disk{.room = 2};
    Retried output(disk);
    output.write("aaaa");
    CHECK_THROWS_WITH_AS(output->close(), "the disk is full", io::IoError);
    disk.may_be_opened = false;
    output.write("bbbb");
    CHECK_THROWS_WITH_AS(output->close(), "no such folder", io::IoError);
    CHECK(output->losses().bytes == 8);
    CHECK_THROWS_AS(Retried{disk}, io::IoError);
}

TEST_CASE("retried output: that a place worked again is told of with what it cost") {
    OutputAccount account{.place = "video.ts"};
    account.losses = {.bytes = 376, .outages = 2};
    REQUIRE(warnings_of(account).size() == 1);
    CHECK(warnings_of(account)[0] == "video.ts: 376 bytes lost, for it failed 2 times and worked again");
}

}  // namespace tidemill::cli
