#pragma once

/// A graph of one's own for programs that know C alone: in a shared object, which tidemill_stream_open()
/// loads.
///
///     struct Doubled {
///         explicit Doubled(std::string_view /*text*/) { graph.chain(inlet, twice, outlet); }
///         tidemill::Graph graph;
///         tidemill::Inlet<float>& inlet = graph.add<tidemill::Inlet<float>>(64);
///         tidemill::Outlet<float>& outlet = graph.add<tidemill::Outlet<float>>(64);
///         Twice& twice = graph.add<Twice>();
///     };
///     TIDEMILL_STREAM(Doubled)
///
/// It runs in order on a thread of its own, or as a member `executor` does (a Pipeline, say). The shared
/// object is linked with the installed static libraries, which are position-independent.

#include <algorithm>
#include <cstring>
#include <exception>
#include <optional>
#include <string_view>

#include "tidemill/runtime/stream/inlet.hpp"
#include "tidemill/runtime/execute/sequence.hpp"

extern "C" {

/// Message of a failure, as a sentence.
struct tidemill_plugin_error {
    char text[1024];
};

/// The functions of a stream; those that can fail return 0, or 1 and say why. New ones come behind the
/// others.
struct tidemill_plugin {
    std::size_t size;  // of this structure, as the shared object knows it
    std::size_t in_bytes;
    std::size_t out_bytes;
    void* (*open)(const char* text, tidemill_plugin_error* error);  // null where it fails
    void (*free)(void* stream);
    int (*push)(void* stream, const void* elements, std::size_t count, int waits, std::size_t* taken,
                tidemill_plugin_error* error);
    int (*pull)(void* stream, void* elements, std::size_t room, int waits, std::size_t* got,
                tidemill_plugin_error* error);
    int (*end)(void* stream, tidemill_plugin_error* error);
    int (*running)(const void* stream);
    int (*join)(void* stream, tidemill_plugin_error* error);
};
}

namespace tidemill::internal {

inline void tell(const char* what, tidemill_plugin_error* error) {
    const std::size_t length = std::min(std::strlen(what), sizeof(error->text) - 1);
    std::memcpy(error->text, what, length);
    error->text[length] = 0;
}

template <class Work>
int told(tidemill_plugin_error* error, const Work& work) noexcept {
    try {
        work();
        return 0;
    } catch (const std::exception& failure) {
        tell(failure.what(), error);
    } catch (...) {
        tell("an error that is no exception of C++'s library", error);
    }
    return 1;
}

/// A stream that a host in C drives.
template <class Stream>
class PluggedStream {
  public:
    explicit PluggedStream(std::string_view text) : stream_(text), run_(start()) {}

    static const tidemill_plugin* functions() {
        static const tidemill_plugin all{sizeof(tidemill_plugin),
                                         sizeof(In),
                                         sizeof(Out),
                                         &open,
                                         &free,
                                         &push,
                                         &pull,
                                         &end,
                                         &running,
                                         &join};
        return &all;
    }

  private:
    template <class T>
    static T element_of(const Inlet<T>&);
    template <class T>
    static T element_of(const Outlet<T>&);
    using In = decltype(element_of(std::declval<Stream>().inlet));
    using Out = decltype(element_of(std::declval<Stream>().outlet));

    Started start() {
        if constexpr (requires(Stream & s) { s.executor; }) {
            return Started(stream_.executor, {.finish = true});
        } else {
            return Started(in_order_.emplace(stream_.graph), {.finish = true});
        }
    }

    static PluggedStream& of(void* stream) { return *static_cast<PluggedStream*>(stream); }

    static void* open(const char* text, tidemill_plugin_error* error) {
        void* made = nullptr;
        told(error, [&] { made = new PluggedStream(text); });
        return made;
    }
    static void free(void* stream) { delete &of(stream); }
    static int push(void* stream, const void* elements, std::size_t count, int waits, std::size_t* taken,
                    tidemill_plugin_error* error) {
        return told(error, [&] {
            const std::span<const In> all{static_cast<const In*>(elements), count};
            *taken =
                waits ? (of(stream).stream_.inlet.push(all), count) : of(stream).stream_.inlet.try_push(all);
        });
    }
    static int pull(void* stream, void* elements, std::size_t room, int waits, std::size_t* got,
                    tidemill_plugin_error* error) {
        return told(error, [&] {
            const std::span<Out> all{static_cast<Out*>(elements), room};
            auto& outlet = of(stream).stream_.outlet;
            *got = waits ? outlet.pull(all) : outlet.try_pull(all);
        });
    }
    static int end(void* stream, tidemill_plugin_error* error) {
        return told(error, [&] { of(stream).stream_.inlet.close(); });
    }
    static int running(const void* stream) {
        return static_cast<const PluggedStream*>(stream)->run_.running() ? 1 : 0;
    }
    static int join(void* stream, tidemill_plugin_error* error) {
        return told(error, [&] { of(stream).run_.join(); });
    }

    Stream stream_;
    std::optional<Sequence> in_order_{};
    Started run_;
};

}  // namespace tidemill::internal

/// Once per shared object: what it has in it is a `Stream`, made from the text that its host gives.
#define TIDEMILL_STREAM(Stream)                                                                         \
    extern "C" __attribute__((visibility("default"))) const tidemill_plugin* tidemill_stream_plugin() { \
        return tidemill::internal::PluggedStream<Stream>::functions();                                  \
    }
