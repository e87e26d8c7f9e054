// Layered min-sum on 8-bit messages, one frame per work group, to the bits and iterations of the fast part of fec's
// LdpcDecoder. What does not converge here is the host's to decode.
//
// 90 work items, each with the four checks t, t + 90, t + 180 and t + 270 of every layer. A column's 360 posteriors
// lie as 90 words of bits j, j + 90, j + 180 and j + 270: whatever the circulant's shift, the four bits of an item
// are one word, turned by whole bytes. So nothing is gathered, and words of neighbours are neighbours.
//
// DEGREE and LEAST_DEGREE are the most and fewest edges of a check of this code.

#define ITEMS 90
#define NEARLY_RIGHT 32
#define SURELY_ZERO 255

#ifndef POSTERIORS_IN_GLOBAL_MEMORY
#define POSTERIORS __local
#define POSTERIOR_FENCE CLK_LOCAL_MEM_FENCE
#define POSTERIORS_ARGUMENT
#define POSTERIORS_BEGIN (words + table_words)
#else
#define POSTERIORS __global
#define POSTERIOR_FENCE (CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#define POSTERIORS_ARGUMENT , __global uint* all_posteriors
#define POSTERIORS_BEGIN (all_posteriors + index * (size_t)(frame.code.bits / 4))
#endif

typedef struct {
    int bits, information_bits, layers, edges;
} Code;

typedef struct {
    Code code;
    POSTERIORS uint* posteriors;
    __local const uint2* edges;  // x: first word's byte, y: wraps at item y >> 8, turned left by y & 31 bits
    __local const uint* layers;   // first edge, own edges << 16, all edges << 24
    __global uint* messages;
} Frame;

// A place in the posteriors: the word, and how far its bytes are turned.
typedef struct {
    uint word, turn;
} Place;

INLINE Place place_of(uint2 edge, uint item) {
    const bool wraps = ((item << 8) | 255u) >= edge.y;
    const Place place = {edge.x + item - (wraps ? ITEMS : 0), edge.y + (wraps ? 8 : 0)};
    return place;
}

INLINE uint first_edge(uint layer) {
    return layer & 0xffffu;
}

INLINE uint own_edges(uint layer) {
    return (layer >> 16) & 0xffu;
}

INLINE uint all_edges(uint layer) {
    return layer >> 24;
}

INLINE bool is_edge(uint e, uint layer) {
    return e < LEAST_DEGREE || e < all_edges(layer);
}

// The bit before the first parity bit does not exist: the item that checks it sees one that is surely 0.
INLINE POSTERIORS uchar* open_bit(Frame frame) {
    return (POSTERIORS uchar*)frame.posteriors + frame.code.bits - 1;
}

INLINE __global uint* message_of(Frame frame, uint layer, uint e, uint item) {
    return frame.messages + (first_edge(layer) + e) * ITEMS + item;
}

INLINE void load_messages(Frame frame, uint layer, uint item, uint* messages) {
    UNROLL
    for (uint e = 0; e < DEGREE; ++e) {
        if (is_edge(e, layer)) messages[e] = *message_of(frame, layer, e, item);
    }
}

// What the edges of a layer bring, until they are answered. Where checks have many, there are no registers for more
// than a word of each: messages are not loaded ahead, and places are worked out again.
#if DEGREE > EDGES_IN_REGISTERS
#define IS_COMPACT 1
typedef uint Kept;

INLINE Kept kept(Lanes x) {
    return packed(x);
}

INLINE Lanes lanes_of_kept(Kept x) {
    return extrinsic(x, NO_MESSAGES);
}
#else
#define IS_COMPACT 0
typedef Lanes Kept;

INLINE Kept kept(Lanes x) {
    return x;
}

INLINE Lanes lanes_of_kept(Kept x) {
    return x;
}
#endif

INLINE Answers ask(Frame frame, uint layer, uint item, bool is_first_sweep, const uint* old, Kept* x,
                   Place* places) {
    Checks checks = no_edges();
    UNROLL
    for (uint e = 0; e < DEGREE; ++e) {
        if (!is_edge(e, layer)) continue;
        const uint before = !IS_COMPACT       ? old[e]
                            : is_first_sweep ? NO_MESSAGES
                                             : *message_of(frame, layer, e, item);
        places[e] = place_of(frame.edges[first_edge(layer) + e], item);
        const Lanes brought = extrinsic(turned_right(frame.posteriors[places[e].word], places[e].turn), before);
        take(&checks, brought);
        x[e] = kept(brought);
    }
    return answers_of(checks);
}

// Columns with several edges in the layer come last: all have seen the old value, and add their changes one after
// the other.
INLINE void answer_all(Frame frame, uint layer, uint item, bool is_first_sweep, Answers answers, const uint* old,
                       const Kept* x, const Place* places) {
    const uint own = own_edges(layer);
    if (own != all_edges(layer)) barrier(POSTERIOR_FENCE);
    UNROLL
    for (uint e = 0; e < DEGREE; ++e) {
        if (!is_edge(e, layer)) continue;
        const Place place = IS_COMPACT ? place_of(frame.edges[first_edge(layer) + e], item) : places[e];
        const Lanes brought = lanes_of_kept(x[e]);
        const Lanes new_message = message(answers, brought);
        __global uint* stored = message_of(frame, layer, e, item);
        POSTERIORS uint* word = frame.posteriors + place.word;
        if (e < own) {
            *word = turned_left(posteriors_of(brought, new_message), place.turn);
        } else {
            const uint before = !IS_COMPACT ? old[e] : is_first_sweep ? NO_MESSAGES : *stored;
            *word = turned_left(changed(turned_right(*word, place.turn), before, new_message), place.turn);
            barrier(POSTERIOR_FENCE);
        }
        *stored = bytes_of_messages(new_message);
    }
}

// `old` are the messages of this layer, and then those of the next one: on their way while this one is answered.
INLINE void process(Frame frame, uint layer, uint next_layer, bool is_first_sweep, uint item, uint* old) {
    Kept x[DEGREE];
    Place places[DEGREE];
    uint next[DEGREE];
    const Answers answers = ask(frame, layer, item, is_first_sweep, old, x, places);
    const bool loads_ahead = !IS_COMPACT && !is_first_sweep;
    if (loads_ahead) load_messages(frame, next_layer, item, next);
    answer_all(frame, layer, item, is_first_sweep, answers, old, x, places);
    if (!loads_ahead) return;
    UNROLL
    for (uint e = 0; e < DEGREE; ++e) old[e] = next[e];
}

INLINE void sweep(Frame frame, bool is_first_sweep, uint item) {
    uint old[DEGREE];
    uchar last_parity = 0;
    barrier(POSTERIOR_FENCE);
    if (item == 0) {
        last_parity = *open_bit(frame);
        *open_bit(frame) = SURELY_ZERO;
    }
    if (is_first_sweep) {
        UNROLL
        for (uint e = 0; e < DEGREE; ++e) old[e] = NO_MESSAGES;
    } else if (!IS_COMPACT) {
        load_messages(frame, frame.layers[0], item, old);
    }
    for (int i = 0; i < frame.code.layers; ++i) {
        // Behind the last layer comes one again: that it is loaded for nothing costs less than to ask.
        const uint next_layer = frame.layers[i + 1 < frame.code.layers ? i + 1 : i];
        process(frame, frame.layers[i], next_layer, is_first_sweep, item, old);
        if (i == 0 && item == 0) {
            *open_bit(frame) = last_parity;
            __global uint* open = message_of(frame, frame.layers[0], own_edges(frame.layers[0]) - 1, 0);
            *open = (*open & ~0xffu) | 64u;
        }
        barrier(POSTERIOR_FENCE);
    }
}

INLINE uint failed_of_item(Frame frame, uint item) {
    uint failed = 0;
    for (int i = 0; i < frame.code.layers && failed < NEARLY_RIGHT; ++i) {
        const uint layer = frame.layers[i];
        uint parity = (all_edges(layer) & 1u) ? 0x80808080u : 0u;
        for (uint e = 0; e < all_edges(layer); ++e) {
            const Place place = place_of(frame.edges[first_edge(layer) + e], item);
            uint word = turned_right(frame.posteriors[place.word], place.turn);
            if (i == 0 && item == 0 && e + 1 == own_edges(layer)) word |= 0x80u;
            parity ^= word;
        }
        failed += popcount(parity & 0x80808080u);
    }
    return failed;
}

// Checks that the decisions fail; from NEARLY_RIGHT on they may not all be counted.
INLINE uint failed_checks(Frame frame, uint item, __local uint* total) {
    barrier(POSTERIOR_FENCE);
    if (item == 0) *total = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint failed = failed_of_item(frame, item);
    if (failed > 0) atomic_add(total, failed);
    barrier(CLK_LOCAL_MEM_FENCE);
    return *total;
}

INLINE void decide(Frame frame, uint item, __global uchar* information) {
    POSTERIORS const uchar* posteriors = (POSTERIORS const uchar*)frame.posteriors;
    for (uint byte = item; byte < (uint)frame.code.information_bits / 8; byte += ITEMS) {
        const uint column = byte / 45, first = byte % 45 * 8;
        uint bits = 0;
        for (uint lane = first; lane < first + 8; ++lane)
            bits = 2 * bits + (posteriors[column * 360 + lane % ITEMS * 4 + lane / ITEMS] < 128);
        information[byte] = (uchar)bits;
    }
}

INLINE uint word_of(__global const uchar* llrs, uint step) {
    const uint word = llrs[0] | (uint)llrs[step] << 8 | (uint)llrs[2 * step] << 16 | (uint)llrs[3 * step] << 24;
    return word ^ 0x80808080u;
}

// Parity bit i + q t is bit t of the parity column i.
INLINE void load(Frame frame, uint item, __global const uchar* llrs) {
    const uint columns = (uint)frame.code.information_bits / 360, q = (uint)frame.code.layers;
    barrier(POSTERIOR_FENCE);
    for (uint column = 0; column < columns; ++column)
        frame.posteriors[column * ITEMS + item] = word_of(llrs + column * 360 + item, ITEMS);
    __global const uchar* parity = llrs + frame.code.information_bits + q * item;
    for (uint column = 0; column < q; ++column)
        frame.posteriors[(columns + column) * ITEMS + item] = word_of(parity + column, ITEMS * q);
}

// `shape`: Code. `tables`: edges, then layers. Results: iterations, and 1 where the decisions are a codeword. Local:
// edges, layers, posteriors.
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void ldpc(
    __global const uchar* restrict all_llrs, __global uchar* restrict all_information,
    __global int2* restrict results, __global uint* restrict all_messages, __global const int* restrict shape,
    __global const uint* restrict tables, int max_iterations, int stop_early, __local uint* local_words POSTERIORS_ARGUMENT) {
    __local uint failed_total;
    const uint item = (uint)get_local_id(0);
    const size_t index = get_group_id(0);
    __local uint* words = LOCAL_ARGUMENT(uint, local_words);
    Frame frame;
    frame.code.bits = shape[0];
    frame.code.information_bits = shape[1];
    frame.code.layers = shape[2];
    frame.code.edges = shape[3];
    const uint table_words = 2 * (uint)frame.code.edges + (uint)frame.code.layers;
    for (uint i = item; i < table_words; i += ITEMS) words[i] = tables[i];
    frame.edges = (__local const uint2*)words;
    frame.layers = words + 2 * frame.code.edges;
    frame.posteriors = POSTERIORS_BEGIN;
    frame.messages = all_messages + index * (size_t)frame.code.edges * ITEMS;
    __global const uchar* llrs = all_llrs + index * (size_t)frame.code.bits;
    __global uchar* information = all_information + index * (size_t)(frame.code.information_bits / 8);

    uint fewest = NEARLY_RIGHT;
    int iterations = 0, converged = 0;
    load(frame, item, llrs);
    for (;;) {
        if (stop_early || iterations == max_iterations) {
            const uint failed = failed_checks(frame, item, &failed_total);
            if (failed < fewest) {
                fewest = failed;
                decide(frame, item, information);
            }
            converged = failed == 0;
        }
        if (converged || iterations == max_iterations) break;
        sweep(frame, iterations == 0, item);
        ++iterations;
    }
    if (fewest == NEARLY_RIGHT) decide(frame, item, information);
    if (item == 0) results[index] = (int2)(iterations, converged);
}
