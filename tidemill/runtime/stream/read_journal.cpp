#include <cerrno>
#include <cstring>
#include <fstream>

#include <fmt/format.h>

#include "tidemill/base/json_error.hpp"
#include "tidemill/base/json_location.hpp"
#include "tidemill/base/text_file.hpp"
#include "tidemill/runtime/stream/journal.hpp"
#include "tidemill/runtime/stream/knob_record.hpp"

namespace tidemill {

namespace {

constexpr std::uint64_t kVersion = 1;

class Reader {
  public:
    Reader(std::istream& text, std::string_view source) : text_(text), source_(source) {}

    JournalRecord read() {
        if (!next()) fail("is empty: it is no journal");
        read_head();
        while (next()) read_entry();
        if (!ended_) fail_cut_off();
        return std::move(record_);
    }

  private:
    bool next() {
        if (!next_line(text_, line_)) return false;
        ++lines_;
        try {
            json_ = parse_json(line_, place());
        } catch (const JsonError&) {
            // The last line is not whole where writing it was cut off.
            if (text_.peek() == std::istream::traits_type::eof() && lines_ > 1) fail_cut_off();
            throw;
        }
        return true;
    }

    std::string place() const { return fmt::format("{}, line {}", source_, lines_); }

    [[noreturn]] void fail(std::string_view what) const {
        throw JournalError(fmt::format("{} {}", source_, what));
    }
    [[noreturn]] void fail_cut_off() const {
        fail(fmt::format("is cut off at line {}: its run did not end, or the file is not whole", lines_));
    }

    void read_head() {
        if (!json_.find("tidemill_journal")) fail("is no journal: its first line does not say so");
        const JsonObject head({json_, place()}, {"tidemill_journal", "graph", "frame"});
        const std::uint64_t version = head.at("tidemill_journal").count();
        if (version != kVersion)
            fail(fmt::format("is a journal of version {}; this program reads version {}", version, kVersion));
        record_.graph = head.at("graph").text();
        record_.first_frame = head.at("frame").count();
    }

    void read_entry() {
        const JsonLocation entry(json_, place());
        const JsonObject fields(entry, {"frame", "set", "dropped", "end", "finished"});
        const int kinds = fields.has("set") + fields.has("dropped") + fields.has("end");
        if (kinds != 1) entry.fail("expected one of set, dropped and end");
        if (ended_ && !fields.has("set") && !record_.settings.empty())
            entry.fail("a run that goes on begins with the values of all knobs");
        ended_ = fields.has("end");
        record_.finished = fields.has("finished") && fields.at("finished").flag();
        if (record_.finished && !ended_) entry.fail("only an end is finished");
        if (ended_) return read_end(fields.at("end"));
        if (fields.has("set")) return add_setting(fields.at("frame"), fields.at("set"));
        add_drop(fields.at("frame"), fields.at("dropped"));
    }

    void read_end(const JsonLocation& end) {
        record_.end = end.value().get_if<std::string>() ? std::nullopt : std::optional(end.count());
        const std::uint64_t least = record_.drops.empty() ? record_.first_frame : record_.drops.back().end();
        if (record_.end && *record_.end < least) end.fail("lies before the frames that the run began");
    }

    void add_drop(const JsonLocation& frame, const JsonLocation& dropped) {
        constexpr std::uint64_t kMost = std::uint64_t{1} << 62;
        const JournalRecord::Drop drop{frame.count(), dropped.count()};
        const std::uint64_t least = record_.drops.empty() ? record_.first_frame : record_.drops.back().end();
        if (drop.frame < least) frame.fail("lies before the frames that come before it in the journal");
        if (drop.frame > kMost || drop.frames > kMost) dropped.fail("there are no so many frames");
        record_.drops.push_back(drop);
    }

    void add_setting(const JsonLocation& frame, const JsonLocation& set) {
        record_.settings.push_back(read_values(set, frame.count()));
        if (record_.settings.back().frame < record_.first_frame)
            frame.fail("lies before the journal's first frame");
    }

    std::istream& text_;
    std::string source_;
    std::string line_;
    std::size_t lines_ = 0;
    Json json_;
    bool ended_ = false;
    JournalRecord record_;
};

}  // namespace

JournalRecord parse_journal(std::istream& text, std::string_view source) {
    try {
        return Reader(text, source).read();
    } catch (const JsonError& error) {
        throw JournalError(error.what());
    }
}

JournalRecord read_journal(const std::filesystem::path& path) {
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    if (!file)
        throw JournalError(
            fmt::format("{}: cannot open for reading: {}", path.string(), std::strerror(errno)));
    return parse_journal(file, path.string());
}

}  // namespace tidemill
