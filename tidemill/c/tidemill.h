#ifndef TIDEMILL_C_TIDEMILL_H
#define TIDEMILL_C_TIDEMILL_H

/*
 * The DVB-S2 receiver and transmitter, and streams of one's own, for programs in C, and in whatever can call
 * it.
 *
 * Link with `pkg-config --cflags --libs tidemill`. What a function is given it copies; what it gives out
 * belongs to its object. A function that can fail returns a tidemill_status, or null where it makes
 * something; tidemill_error() then says what, where and what to do. Callbacks run on a thread of the
 * receiver's, and what would wait for them is refused there: to push, join or free it. Each has the pointer that
 * it was given with. No signals are handled, nothing is printed. After a fork, objects are for the process that
 * made them.
 *
 * A configuration is made, filled, used for any number of objects, and freed. Frequencies and rates are in
 * Hz.
 */

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define TIDEMILL_API __attribute__((visibility("default")))
#else
#define TIDEMILL_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tidemill_status {
    TIDEMILL_OK = 0,
    TIDEMILL_REFUSED = 1, /* an argument or a setting cannot be; nothing has changed */
    TIDEMILL_FAILED = 2   /* the work failed, or has ended before */
} tidemill_status;

/* Interleaved I and Q, little endian; full scale of the integers is 1. */
typedef enum tidemill_format {
    TIDEMILL_CF32 = 0,
    TIDEMILL_CI16 = 1,
    TIDEMILL_CI8 = 2,
    TIDEMILL_CU8 = 3,
    TIDEMILL_CF64 = 4
} tidemill_format;

/* "0.1.0". */
TIDEMILL_API const char* tidemill_version(void);

/* What the last call of this thread that did not succeed says of it; empty before one. Until the next such
 * call. */
TIDEMILL_API const char* tidemill_error(void);

/* "QPSK 3/4" of a MODCOD's number from 1 to 28 (EN 302 307-1, table 12); null for another. */
TIDEMILL_API const char* tidemill_modcod_name(int number);

/* Bytes of one complex sample; 0 where there is no such format. */
TIDEMILL_API size_t tidemill_sample_bytes(tidemill_format format);

/* ---- Receiving ---- */

typedef struct tidemill_rx_config tidemill_rx_config;
typedef struct tidemill_rx tidemill_rx;

/* Whole packets of a transport stream, 188 bytes each, of one input stream of the signal. Without this
 * callback they are pulled. */
typedef void (*tidemill_packets_callback)(void* with, const uint8_t* packets, size_t count, int stream);

/* A frame that reached the decoder, also a bad one. More fields may follow: `size` says how many bytes there
 * are. */
typedef struct tidemill_frame {
    size_t size;
    int modcod;      /* its number */
    int short_frame; /* 1: 16200 bits, 0: 64800 */
    int pilots;      /* 1: with */
    int good;        /* 0: more errors than the outer code corrects */
    float esn0_db;   /* between -20 and 60 */
    int ldpc_iterations;
} tidemill_frame;
typedef void (*tidemill_frame_callback)(void* with, const tidemill_frame* frame);

/* Data symbols of a frame as the demapper gets them, I and Q in turn; unit energy in the mean. Called by
 * several threads at once where the receiver has several. */
typedef void (*tidemill_symbols_callback)(void* with, const float* symbols, size_t count);

/* Why the reception failed; then it is over. */
typedef void (*tidemill_error_callback)(void* with, const char* error);

/* What a receiver does at a moment. `size` is set by who asks: sizeof(tidemill_rx_state). */
typedef struct tidemill_rx_state {
    size_t size;
    int found;  /* 1: a signal is there */
    int locked; /* 1: frames follow one another */
    int modcod; /* of the last frame; 0 before the first */
    int short_frame;
    int pilots;
    uint64_t frames; /* that reached the decoder */
    uint64_t frames_bad;
    uint64_t info_bits;  /* of the good ones */
    double esn0_db;      /* of the last frame */
    double frequency_hz; /* of the carrier in the samples */
    double symbol_rate_hz;
    double clock_ppm; /* of the transmitter's symbol clock */
    uint64_t samples_clipped;
} tidemill_rx_state;

/* What a reception was, when it is over. */
typedef struct tidemill_rx_report {
    size_t size;
    uint64_t samples;
    uint64_t samples_not_finite;
    uint64_t frames;
    uint64_t frames_bad;
    uint64_t frames_lost;
    uint64_t packets;
    uint64_t packets_dropped; /* begun, or with a wrong CRC */
    uint64_t locks;           /* times that frames were found */
    double esn0_db;           /* mean over the good frames */
} tidemill_rx_report;

/* Null when there is no memory. What is not set: samples in cf32 of unknown rate, two a symbol, roll-off
 * 0.20, gold code 0, one thread, room for 65536 samples and 4096 packets, the first stream that is seen. */
TIDEMILL_API tidemill_rx_config* tidemill_rx_config_new(void);
TIDEMILL_API void tidemill_rx_config_free(tidemill_rx_config* config);

/* 0: unknown; then a symbol rate is in its units. */
TIDEMILL_API tidemill_status tidemill_rx_config_set_sample_rate(tidemill_rx_config* config, double rate_hz);
/* 0: half the sample rate. */
TIDEMILL_API tidemill_status tidemill_rx_config_set_symbol_rate(tidemill_rx_config* config, double rate_hz);
TIDEMILL_API tidemill_status tidemill_rx_config_set_rolloff(tidemill_rx_config* config, double rolloff);
/* From 0 to 262141. */
TIDEMILL_API tidemill_status tidemill_rx_config_set_gold_code(tidemill_rx_config* config, int gold_code);
/* Where the radio was tuned to: frequencies are told from there. */
TIDEMILL_API tidemill_status tidemill_rx_config_set_tuned(tidemill_rx_config* config, double frequency_hz);
TIDEMILL_API tidemill_status tidemill_rx_config_set_format(tidemill_rx_config* config,
                                                           tidemill_format format);
/* 1 receives in order on one thread; more share the tasks. With 0 there is none: who pushes receives, before
 * push() returns. Callbacks are called in there, packets that nobody has pulled wait in any number, and each
 * push takes a tenth of a millisecond more than its samples do. */
TIDEMILL_API tidemill_status tidemill_rx_config_set_threads(tidemill_rx_config* config, size_t threads);
/* How many samples and packets may wait for those who take them. With room for 0 samples, tidemill_rx_push()
 * lends them to the receiver's thread and waits until it has read them: they are copied once instead of
 * twice, and threads wake each other less; there is no tidemill_rx_try_push(). */
TIDEMILL_API tidemill_status tidemill_rx_config_set_waiting(tidemill_rx_config* config, size_t samples,
                                                            size_t packets);
/* An input stream from 0 to 255 of a signal that has several; -1: the first that is seen, -2: all. */
TIDEMILL_API tidemill_status tidemill_rx_config_set_stream(tidemill_rx_config* config, int stream);
/* 1: packets whose CRC is wrong are marked and kept; 0: dropped. */
TIDEMILL_API tidemill_status tidemill_rx_config_set_keep_damaged(tidemill_rx_config* config, int keep);
/* Null takes a callback away again. */
TIDEMILL_API tidemill_status tidemill_rx_config_on_packets(tidemill_rx_config* config,
                                                           tidemill_packets_callback call, void* with);
TIDEMILL_API tidemill_status tidemill_rx_config_on_frame(tidemill_rx_config* config,
                                                         tidemill_frame_callback call, void* with);
TIDEMILL_API tidemill_status tidemill_rx_config_on_symbols(tidemill_rx_config* config,
                                                           tidemill_symbols_callback call, void* with);
TIDEMILL_API tidemill_status tidemill_rx_config_on_error(tidemill_rx_config* config,
                                                         tidemill_error_callback call, void* with);

/* A receiver, at work; null for settings that cannot be. */
TIDEMILL_API tidemill_rx* tidemill_rx_new(const tidemill_rx_config* config);
/* Stops it, and waits until that is done. Null is nothing. */
TIDEMILL_API void tidemill_rx_free(tidemill_rx* rx);

/* Takes `count` samples of the format, and waits while there is no room. One thread at a time pushes. */
TIDEMILL_API tidemill_status tidemill_rx_push(tidemill_rx* rx, const void* samples, size_t count);
/* Takes as many as there is room for; `taken` says how many. */
TIDEMILL_API tidemill_status tidemill_rx_try_push(tidemill_rx* rx, const void* samples, size_t count,
                                                  size_t* taken);

/* Gives up to `room` packets, and waits until there is one, or no more come: then `got` is 0. One thread at a
 * time pulls. Where nobody does, the reception waits. */
TIDEMILL_API tidemill_status tidemill_rx_pull(tidemill_rx* rx, uint8_t* packets, size_t room, size_t* got);
/* The same with those that are there. */
TIDEMILL_API tidemill_status tidemill_rx_try_pull(tidemill_rx* rx, uint8_t* packets, size_t room,
                                                  size_t* got);

/* No more samples come: those that wait are received. */
TIDEMILL_API tidemill_status tidemill_rx_end(tidemill_rx* rx);
/* It ends soon; samples that wait are not received. */
TIDEMILL_API tidemill_status tidemill_rx_stop(tidemill_rx* rx);
/* 1 until it has ended. */
TIDEMILL_API int tidemill_rx_running(const tidemill_rx* rx);
/* Ends it as tidemill_rx_end() does, waits until it has, and tells what it was; `report` may be null. Packets
 * can be pulled before, at the same time, and after it. */
TIDEMILL_API tidemill_status tidemill_rx_join(tidemill_rx* rx, tidemill_rx_report* report);

/* From any thread. */
TIDEMILL_API tidemill_status tidemill_rx_now(const tidemill_rx* rx, tidemill_rx_state* state);

/* ---- Sending ---- */

typedef struct tidemill_tx_config tidemill_tx_config;
typedef struct tidemill_tx tidemill_tx;

/* Null when there is no memory. What is not set: MODCOD 4 (QPSK 1/2), normal frames, no pilots, gold code 0,
 * roll-off 0.20, two samples a symbol. */
TIDEMILL_API tidemill_tx_config* tidemill_tx_config_new(void);
TIDEMILL_API void tidemill_tx_config_free(tidemill_tx_config* config);

/* A number from 1 to 28 (EN 302 307-1, table 12). */
TIDEMILL_API tidemill_status tidemill_tx_config_set_modcod(tidemill_tx_config* config, int number);
TIDEMILL_API tidemill_status tidemill_tx_config_set_short_frames(tidemill_tx_config* config,
                                                                 int short_frames);
TIDEMILL_API tidemill_status tidemill_tx_config_set_pilots(tidemill_tx_config* config, int pilots);
TIDEMILL_API tidemill_status tidemill_tx_config_set_gold_code(tidemill_tx_config* config, int gold_code);
/* 0.35, 0.25 or 0.20. */
TIDEMILL_API tidemill_status tidemill_tx_config_set_rolloff(tidemill_tx_config* config, double rolloff);
/* 1: the symbols themselves. */
TIDEMILL_API tidemill_status tidemill_tx_config_set_samples_per_symbol(tidemill_tx_config* config,
                                                                       int samples);

/* Null for settings that cannot be sent. It works in the thread that calls it. */
TIDEMILL_API tidemill_tx* tidemill_tx_new(const tidemill_tx_config* config);
TIDEMILL_API void tidemill_tx_free(tidemill_tx* tx);

/* Takes `count` packets of 188 bytes; the samples of the frames that they fill wait to be taken. */
TIDEMILL_API tidemill_status tidemill_tx_send(tidemill_tx* tx, const uint8_t* packets, size_t count);
/* Sends what remains in a padded frame and ends the signal. */
TIDEMILL_API tidemill_status tidemill_tx_finish(tidemill_tx* tx);
/* Samples that wait. */
TIDEMILL_API size_t tidemill_tx_waiting(const tidemill_tx* tx);
/* Gives up to `room` samples in cf32, of mean power 1; says how many. */
TIDEMILL_API size_t tidemill_tx_take(tidemill_tx* tx, float* samples, size_t room);

/* ---- A graph of one's own ---- */

/* A graph between an inlet and an outlet, in a shared object; tidemill/c/plugin.h says how one is made in
 * C++. */
typedef struct tidemill_stream tidemill_stream;

/* Loads the shared object and starts the stream that it makes of `text`, on a thread of the stream's. Null
 * where there is none, or it does not like the text. An empty `library` is the program itself. */
TIDEMILL_API tidemill_stream* tidemill_stream_open(const char* library, const char* text);
/* Stops it, and waits until that is done. Null is nothing. */
TIDEMILL_API void tidemill_stream_free(tidemill_stream* stream);

/* Bytes of an element that is pushed, and of one that is pulled. */
TIDEMILL_API size_t tidemill_stream_in_bytes(const tidemill_stream* stream);
TIDEMILL_API size_t tidemill_stream_out_bytes(const tidemill_stream* stream);

/* Takes `count` elements, and waits while there is no room. One thread at a time pushes, and one pulls. */
TIDEMILL_API tidemill_status tidemill_stream_push(tidemill_stream* stream, const void* elements,
                                                  size_t count);
/* Takes as many as there is room for; `taken` says how many. */
TIDEMILL_API tidemill_status tidemill_stream_try_push(tidemill_stream* stream, const void* elements,
                                                      size_t count, size_t* taken);

/* Gives `room` elements, and waits until it has; fewer where the stream has ended, and 0 when all were
 * pulled. */
TIDEMILL_API tidemill_status tidemill_stream_pull(tidemill_stream* stream, void* elements, size_t room,
                                                  size_t* got);
/* The same with those that are there. */
TIDEMILL_API tidemill_status tidemill_stream_try_pull(tidemill_stream* stream, void* elements, size_t room,
                                                      size_t* got);

/* No more elements come: the stream ends behind the last whole frame of the inlet's. */
TIDEMILL_API tidemill_status tidemill_stream_end(tidemill_stream* stream);
/* 1 until it has ended. */
TIDEMILL_API int tidemill_stream_running(const tidemill_stream* stream);
/* Waits until it has ended, which takes that somebody pulls what it gives, and says why it failed, if it did.
 */
TIDEMILL_API tidemill_status tidemill_stream_join(tidemill_stream* stream);

#ifdef __cplusplus
}
#endif

#endif
