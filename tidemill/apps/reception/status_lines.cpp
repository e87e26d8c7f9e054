#include "tidemill/apps/reception/status_lines.hpp"

#include <utility>

#include "tidemill/apps/outputs/output.hpp"
#include "tidemill/base/json.hpp"
#include "tidemill/io/io_error.hpp"

namespace tidemill::cli {

StatusLines::StatusLines(const std::string& place, std::vector<StatusSources> asked)
    : asked_(std::move(asked)) {
    if (place.empty()) return;
    writing([&] { file_.emplace(place); });
    ticks_.emplace(std::chrono::seconds(1), [this](double now_s) {
        for (StatusSources& one : asked_) {
            Json line = one.status.next(now_s);
            if (one.carrier) line["carrier"] = *one.carrier;
            write(to_text(line) + "\n");
        }
    });
}

void StatusLines::close() {
    ticks_.reset();
    if (file_) writing([&] { file_->close(); });
}

// A full disk must not end the reception: close() reports it.
void StatusLines::write(const std::string& line) {
    try {
        file_->write({reinterpret_cast<const std::uint8_t*>(line.data()), line.size()});
        file_->flush();
    } catch (const io::IoError&) {
    }
}

}  // namespace tidemill::cli
