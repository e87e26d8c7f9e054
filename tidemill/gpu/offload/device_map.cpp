#include "tidemill/gpu/offload/device_map.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "tidemill/gpu/device/device_error.hpp"

namespace tidemill {

namespace {

template <class Socket>
std::vector<const std::byte*> bytes_of_frames(Batch batch, const Socket& socket) {
    std::vector<const std::byte*> all;
    for (std::size_t i = 0; i < batch.size(); ++i) all.push_back(std::as_bytes(batch[i][socket]).data());
    return all;
}

template <class Socket>
std::optional<ResidentRows::Rows> rows_of(const std::shared_ptr<ResidentRows>& rows, Batch batch,
                                          const Socket& socket) {
    if (!rows) return {};
    return rows->rows_of(bytes_of_frames(batch, socket));
}

}  // namespace

DeviceMap::DeviceMap(std::string name, std::size_t numbers, DeviceMapping mapping)
    : Module(std::move(name)),
      in(Module::in<std::uint32_t>("in", numbers)),
      out(Module::out<std::uint32_t>("out", numbers)),
      map(task_in_flight<&DeviceMap::begin_batch, &DeviceMap::is_batch_done, &DeviceMap::end_batch>(
          "map", {.batch = mapping.most_frames, .in_flight = mapping.in_flight})),
      mapping_(std::move(mapping)),
      places_(mapping_.in_flight) {
    check(mapping_.from);
    check(mapping_.to);
    kernel_ = mapping_.device->kernel(mapping_.source, mapping_.kernel);
}

void DeviceMap::check(const std::shared_ptr<ResidentRows>& rows) const {
    if (!rows) return;
    const std::string& id = mapping_.device->info().id;
    if (&rows->device() != mapping_.device.get())
        throw DeviceError(
            fmt::format("{}: frames that stay on {} cannot be found there: both tasks must be on "
                        "one device, opened once",
                        id, rows->device().info().id));
    if (rows->row_bytes() != bytes_of(1))
        throw DeviceError(fmt::format("{}: frames of {} bytes in rows of {}: make both the same", id,
                                      bytes_of(1), rows->row_bytes()));
}

DeviceMap::Place DeviceMap::new_place() const {
    Place place;
    place.queue = mapping_.device->queue();
    place.rows = mapping_.device->allocate(2 * sizeof(std::uint32_t) * mapping_.most_frames, mapping_.memory);
    return place;
}

void DeviceMap::begin_batch(Batch batch, std::size_t index) {
    Place& place = places_[index];
    if (!place.queue) place = new_place();
    place.found = rows_of(mapping_.from, batch, in);
    place.left = rows_of(mapping_.to, batch, out);
    place.end.reset();
    if (place.found) {
        check_found(batch, *place.found);
    } else {
        bring(batch, place);
    }
    send_rows(batch.size(), place);
    launch(batch.size(), place);
    // A copy that waits in the driver, where nobody can watch it, is for the end.
    if (mapping_.memory != MemoryPolicy::copy || place.left) send_back(batch.size(), place);
}

// A frame whose numbers were copied on the host on their way here is not where they were left.
void DeviceMap::check_found(Batch batch, const ResidentRows::Rows& rows) const {
    for (std::size_t i = 0; i < batch.size(); ++i) {
        if (rows.numbers[rows.indices[i]] == batch[i].number() + 1) continue;
        throw DeviceError(
            fmt::format("{}: nothing was left there for frame {} of {}: bind it to the task that leaves its "
                        "frames in the same rows, with nothing in between that numbers them anew",
                        mapping_.device->info().id, batch[i].number(), name()));
    }
}

void DeviceMap::bring(Batch batch, Place& place) const {
    if (!place.in) place.in = mapping_.device->allocate(bytes_of(mapping_.most_frames), mapping_.memory);
    std::span<std::uint32_t> numbers = place.in->host_as<std::uint32_t>();
    for (std::size_t i = 0; i < batch.size(); ++i) {
        std::ranges::copy(batch[i][in], numbers.begin());
        numbers = numbers.subspan(in.count);
    }
    place.queue->to_device(*place.in, bytes_of(batch.size()));
}

// Where the kernel reads each frame, and behind all these where it writes them.
void DeviceMap::send_rows(std::size_t frames, Place& place) const {
    const std::span<std::uint32_t> rows = place.rows->host_as<std::uint32_t>();
    for (std::size_t i = 0; i < frames; ++i) {
        const auto own = static_cast<std::uint32_t>(i);
        rows[i] = place.found ? place.found->indices[i] : own;
        rows[frames + i] = place.left ? place.left->indices[i] : own;
    }
    place.queue->to_device(*place.rows, 2 * frames * sizeof(std::uint32_t));
}

void DeviceMap::launch(std::size_t frames, Place& place) {
    constexpr std::size_t kItems = 64, kMostParts = 64, kNumbersOfItem = 4;
    const std::size_t parts = std::clamp(in.count / (kItems * kNumbersOfItem), std::size_t{1}, kMostParts);
    if (!place.left) {
        if (!place.out)
            place.out = mapping_.device->allocate(bytes_of(mapping_.most_frames), mapping_.memory);
        place.queue->to_device(*place.out, 0);
    }
    const KernelArgument arguments[] = {place.found ? place.found->memory : place.in.get(),
                                        place.left ? place.left->memory : place.out.get(),
                                        place.rows.get(),
                                        static_cast<std::uint32_t>(frames),
                                        static_cast<std::uint32_t>(in.count),
                                        static_cast<std::uint32_t>(parts)};
    place.queue->launch(*kernel_, {frames * parts, kItems}, arguments);
    place.computed = place.queue->mark();
}

void DeviceMap::send_back(std::size_t frames, Place& place) const {
    if (!place.left) place.queue->to_host(*place.out, bytes_of(frames));
    if (!place.found) place.queue->to_host(*place.in, 0);
    place.queue->to_host(*place.rows, 0);
    place.end = place.queue->mark();
}

bool DeviceMap::is_batch_done(std::size_t index) {
    const Place& place = places_[index];
    return (place.end ? place.end : place.computed)->done();
}

void DeviceMap::end_batch(Batch batch, std::size_t index) {
    Place& place = places_[index];
    const std::size_t frames = batch.size();
    if (!place.end) {
        wait(*place.computed, frames);
        send_back(frames, place);
    }
    wait(*place.end, frames);
    if (place.left) {
        for (std::size_t i = 0; i < frames; ++i)
            place.left->numbers[place.left->indices[i]] = batch[i].number() + 1;
    } else {
        std::span<const std::uint32_t> numbers = place.out->host_as<std::uint32_t>();
        for (std::size_t i = 0; i < frames; ++i) {
            std::ranges::copy(numbers.first(out.count), batch[i][out].begin());
            numbers = numbers.subspan(out.count);
        }
    }
    use_.frames += frames;
    ++use_.batches;
    if (place.found) use_.found += frames;
    if (place.left) use_.left += frames;
}

void DeviceMap::wait(DeviceEvent& event, std::size_t frames) const {
    wait_for(event,
             fmt::format("{}: {} of {}, a batch of {} frames", mapping_.device->info().id, mapping_.kernel,
                         name(), frames),
             mapping_.patience);
}

}  // namespace tidemill
