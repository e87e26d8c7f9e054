#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <system_error>

#include <fmt/format.h>

#include "tidemill/base/json_error.hpp"
#include "tidemill/base/json_location.hpp"
#include "tidemill/base/text_file.hpp"
#include "tidemill/runtime/graph/internal/fnv.hpp"
#include "tidemill/runtime/stream/checkpoint.hpp"
#include "tidemill/runtime/stream/knob_record.hpp"

// A line of JSON that says what follows, the bytes of all modules, and a digest of both.

namespace tidemill {

namespace {

constexpr std::uint64_t kCheckpointVersion = 1;
constexpr std::size_t kDigestBytes = 16;
constexpr std::uint64_t kMostFrames = std::uint64_t{1} << 62;

std::string digest_of(std::string_view text) {
    internal::Fnv fnv;
    fnv.add(std::as_bytes(std::span(text)));
    return fnv.text();
}

Json head_of(const Checkpoint& checkpoint) {
    Json head{{"tidemill_checkpoint", kCheckpointVersion},
              {"graph", checkpoint.graph},
              {"frames", checkpoint.next_frames},
              {"ended", checkpoint.has_ended},
              {"knobs", Json::array()},
              {"modules", Json::array()}};
    for (const JournalRecord::Setting& each : checkpoint.knobs)
        head["knobs"].push_back({{"frame", each.frame}, {"set", values_json(each)}});
    for (const Checkpoint::Kept& each : checkpoint.modules)
        head["modules"].push_back({{"name", each.module}, {"bytes", each.bytes.size()}});
    return head;
}

std::string text_of(const Checkpoint& checkpoint) {
    std::string text = to_text(head_of(checkpoint)) + "\n";
    for (const Checkpoint::Kept& each : checkpoint.modules)
        text.append(reinterpret_cast<const char*>(each.bytes.data()), each.bytes.size());
    return text + digest_of(text);
}

/// Takes a checkpoint's text apart.
class CheckpointReader {
  public:
    CheckpointReader(std::string_view text, std::string_view source) : text_(text), source_(source) {}

    Checkpoint read() {
        const std::size_t end_of_head = text_.find('\n');
        if (end_of_head == std::string_view::npos || !text_.starts_with("{\"tidemill_checkpoint\":"))
            fail("is no checkpoint: it does not begin like one");
        const std::string place = fmt::format("{}, line 1", source_);
        const Json json = parse_json(text_.substr(0, end_of_head), place);
        const JsonObject head({json, place},
                              {"tidemill_checkpoint", "graph", "frames", "ended", "knobs", "modules"});
        check_version(head.at("tidemill_checkpoint").count());
        check_digest();
        read_head(head);
        read_modules(head.at("modules"), text_.substr(end_of_head + 1));
        return std::move(checkpoint_);
    }

  private:
    [[noreturn]] void fail(std::string_view what) const {
        throw CheckpointError(fmt::format("{} {}", source_, what));
    }

    void check_version(std::uint64_t version) const {
        if (version == kCheckpointVersion) return;
        fail(fmt::format("is a checkpoint of version {}; this program reads version {}", version,
                         kCheckpointVersion));
    }

    void check_digest() {
        const bool has_digest = text_.size() > kDigestBytes;
        const std::string_view before = text_.substr(0, has_digest ? text_.size() - kDigestBytes : 0);
        if (!has_digest || text_.substr(before.size()) != digest_of(before))
            fail("is damaged or cut off: its digest is another; go on from an older one, or begin anew");
        text_ = before;
    }

    void read_head(const JsonObject& head) {
        checkpoint_.graph = head.at("graph").text();
        checkpoint_.has_ended = head.at("ended").flag();
        for (const JsonLocation& each : head.at("frames").elements()) {
            checkpoint_.next_frames.push_back(each.count());
            if (each.count() > kMostFrames) each.fail("no stream has so many frames");
        }
        for (const JsonLocation& each : head.at("knobs").elements())
            checkpoint_.knobs.push_back(read_values(each.at("set"), each.at("frame").count()));
    }

    void read_modules(const JsonLocation& modules, std::string_view rest) {
        for (const JsonLocation& each : modules.elements()) {
            const std::uint64_t size = each.at("bytes").count();
            if (size > rest.size()) each.fail("says more bytes than there are");
            const auto bytes = std::as_bytes(std::span(rest.substr(0, size)));
            checkpoint_.modules.push_back({each.at("name").text(), {bytes.begin(), bytes.end()}});
            rest.remove_prefix(size);
        }
        if (!rest.empty()) modules.fail("say less bytes than there are");
    }

    std::string_view text_;
    std::string source_;
    Checkpoint checkpoint_{};
};

}  // namespace

Checkpoint parse_checkpoint(std::string_view text, std::string_view source) {
    try {
        return CheckpointReader(text, source).read();
    } catch (const JsonError& error) {
        throw CheckpointError(error.what());
    }
}

Checkpoint read_checkpoint(const std::filesystem::path& path) {
    std::error_code none;
    if (std::filesystem::exists(path, none) && !std::filesystem::is_regular_file(path, none))
        throw CheckpointError(fmt::format("{}: is no file, so it holds no checkpoint", path.string()));
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    if (!file)
        throw CheckpointError(
            fmt::format("{}: cannot open for reading: {}", path.string(), std::strerror(errno)));
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    return parse_checkpoint(text, path.string());
}

void write_checkpoint(const Checkpoint& checkpoint, const std::filesystem::path& path) {
    try {
        replace_text(path, text_of(checkpoint));
    } catch (const JsonError& error) {
        throw CheckpointNotWritten(error.what());
    }
}

}  // namespace tidemill
