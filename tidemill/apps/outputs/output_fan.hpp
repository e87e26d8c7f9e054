#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tidemill/apps/outputs/byte_output.hpp"
#include "tidemill/base/json.hpp"
#include "tidemill/runtime/graph/archive.hpp"

namespace tidemill::cli {

/// Account of one output of a reception.
struct OutputAccount {
    std::string place;
    std::string failure{};  ///< why it takes nothing any more; empty: it works
    OutputLosses losses{};  ///< with all that came after a failure
    std::string missing{};  ///< what is not sent for there is no such place; empty: there is
};

/// The account for programs; and in words where something was lost, else nothing.
Json json_of(const OutputAccount& account);
std::vector<std::string> warnings_of(const OutputAccount& account);

/// The same bytes to several places. One that fails is reported, and costs the others nothing.
class OutputFan {
  public:
    void add(std::string place, std::unique_ptr<ByteOutput> output);
    /// A place that could not be opened: as one that fails.
    void add_failed(std::string place, std::string why);
    /// A place for packets that cannot be; they are counted. `what` goes on after "packets of".
    void add_missing(std::string place, std::string what);

    void came_at(const SignalTime& time);
    void write(std::span<const std::uint8_t> piece);
    void close();
    void keep(Archive& archive);
    /// The latest whole packets in the first place that is a single file, at most 4 MB; none where there is
    /// no such place.
    std::vector<std::uint8_t> latest_packets() const;

    /// None at all, not even one that failed.
    bool empty() const { return places_.empty(); }
    /// Whether bytes go anywhere.
    bool works() const;
    /// Why the last place that failed did so; empty: none has.
    const std::string& last_failure() const { return last_failure_; }
    std::vector<OutputAccount> accounts() const;
    /// Bytes that no place has got, as far as is known of the one that has got the most; 0 without places.
    std::uint64_t bytes_lost() const;

  private:
    struct Place {
        std::string name;
        std::unique_ptr<ByteOutput> output;  // null: missing
        std::string failure{};
        std::string missing{};
        std::uint64_t bytes_lost = 0;  // which it was not even offered

        bool works() const { return output && failure.empty(); }
    };

    template <class Act>
    void attempt(Place& place, Act act);

    std::vector<Place> places_{};
    std::string last_failure_{};
};

}  // namespace tidemill::cli
