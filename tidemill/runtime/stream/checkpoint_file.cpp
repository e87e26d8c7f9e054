#include <exception>
#include <utility>

#include "tidemill/machine/repeated.hpp"
#include "tidemill/runtime/stream/checkpoint.hpp"

namespace tidemill {

namespace {

// False where there is nothing more to write. A disk may be full for a while, and the last attempt reports
// it.
bool write_one(const CheckpointFile::Take& take, const std::filesystem::path& path) {
    const std::optional<Checkpoint> taken = take();
    if (!taken) return false;
    try {
        write_checkpoint(*taken, path);
    } catch (const CheckpointNotWritten&) {
    }
    return true;
}

}  // namespace

CheckpointFile::CheckpointFile(std::filesystem::path path, std::chrono::nanoseconds every)
    : path_(std::move(path)), every_(every) {}

// One that a run still keeps goes because its process does (exit() in a task): its thread may wait for ever.
CheckpointFile::~CheckpointFile() {
    writer_.release();
}

void CheckpointFile::follow(Take take) {
    writer_ = std::make_unique<Repeated>(
        every_, [take = std::move(take), path = path_] { return write_one(take, path); });
}

void CheckpointFile::finish(const Checkpoint& last) {
    const std::exception_ptr failure = std::exchange(writer_, nullptr)->end();
    if (failure) std::rethrow_exception(failure);
    write_checkpoint(last, path_);
}

void CheckpointFile::give_up() noexcept {
    if (writer_) std::exchange(writer_, nullptr)->end();
}

}  // namespace tidemill
