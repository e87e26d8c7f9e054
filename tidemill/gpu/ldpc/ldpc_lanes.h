// Four checks side by side: soft values of -128 to 127 and what min-sum does with them. Posteriors lie in memory
// as bytes plus 128, messages as bytes plus 64, lane 0 in the lowest byte of a word.

#define MAGNITUDE_CAP 40
#define OFFSET 2
#define NO_MESSAGES 0x40404040u

#ifdef PACKED_HALVES

// Two numbers of 16 bits per register. Their unit is 1/512: sums are exact, 0 and 1 are where the hardware
// saturates, and a byte in the low half of each is a subnormal number that one multiplication turns into it.
typedef struct {
    uint low, high;
} Lanes;

#define EDGES_IN_REGISTERS 13

#define HALVES(bits) ((uint)(bits) * 0x10001u)
#define OFFSET_UNITS 0x1c00u  // OFFSET/512
#define QUARTER 0x3400u      // 128/512: posterior 0
#define EIGHTH 0x3000u       // 64/512: message 0
#define LARGEST 0x37f8u      // 255/512: posterior 127
#define CAP 0x2d00u          // 40/512
#define TO_UNITS 0x7800u     // 2^15: from subnormal to units
#define MINUS_TO_UNITS 0xf800u
#define TO_BYTE 0x0200u      // 2^-15
#define BYTE_64 0x0040u      // 64 as a subnormal number
#define SIGNS 0x80008000u

#ifndef PACKED_HALVES_BY_HAND
#define TWO_OPERANDS(name, instruction)                                              \
    INLINE uint name(uint a, uint b) {                                        \
        uint result;                                                                 \
        __asm__(instruction " %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));         \
        return result;                                                               \
    }
#define THREE_OPERANDS(name, instruction)                                                      \
    INLINE uint name(uint a, uint b, uint c) {                                          \
        uint result;                                                                           \
        __asm__(instruction " %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(c));       \
        return result;                                                                         \
    }

TWO_OPERANDS(sum2, "add.rn.f16x2")
TWO_OPERANDS(saturated_sum2, "add.rn.sat.f16x2")
TWO_OPERANDS(product2, "mul.rn.f16x2")
TWO_OPERANDS(smaller2, "min.f16x2")
TWO_OPERANDS(larger2, "max.f16x2")
TWO_OPERANDS(equal2, "set.eq.u32.f16x2")
THREE_OPERANDS(multiplied_sum2, "fma.rn.f16x2")
THREE_OPERANDS(saturated_multiplied_sum2, "fma.rn.sat.f16x2")
THREE_OPERANDS(bytes_of2, "prmt.b32")
#endif

INLINE uint magnitude2(uint a) {
    return a & 0x7fff7fffu;
}

INLINE uint extrinsic2(uint posterior, uint message) {
    const uint before = multiplied_sum2(posterior, HALVES(TO_UNITS), HALVES(EIGHTH));
    const uint value = saturated_multiplied_sum2(message, HALVES(MINUS_TO_UNITS), before);
    return sum2(smaller2(value, HALVES(LARGEST)), HALVES(0x8000u | QUARTER));
}

INLINE Lanes extrinsic(uint posteriors, uint messages) {
    const Lanes result = {extrinsic2(bytes_of2(posteriors, 0, 0x4140), bytes_of2(messages, 0, 0x4140)),
                          extrinsic2(bytes_of2(posteriors, 0, 0x4342), bytes_of2(messages, 0, 0x4342))};
    return result;
}

typedef struct {
    Lanes least, second, sign;
} Checks;

INLINE Checks no_edges(void) {
    const Checks checks = {{HALVES(CAP), HALVES(CAP)}, {HALVES(CAP), HALVES(CAP)}, {0, 0}};
    return checks;
}

INLINE void take2(uint* least, uint* second, uint* sign, uint x) {
    const uint magnitude = magnitude2(x);
    *second = smaller2(*second, larger2(*least, magnitude));
    *least = smaller2(*least, magnitude);
    *sign ^= x;
}

INLINE void take(Checks* checks, Lanes x) {
    take2(&checks->least.low, &checks->second.low, &checks->sign.low, x.low);
    take2(&checks->least.high, &checks->second.high, &checks->sign.high, x.high);
}

typedef struct {
    Lanes least, to_least, to_others;
} Answers;

INLINE uint answer2(uint magnitude, uint sign) {
    return saturated_sum2(magnitude, HALVES(0x8000u | OFFSET_UNITS)) ^ (sign & SIGNS);
}

INLINE Answers answers_of(Checks checks) {
    const Answers answers = {
        checks.least,
        {answer2(checks.second.low, checks.sign.low), answer2(checks.second.high, checks.sign.high)},
        {answer2(checks.least.low, checks.sign.low), answer2(checks.least.high, checks.sign.high)}};
    return answers;
}

INLINE uint message2(uint least, uint to_least, uint to_others, uint x) {
    const uint is_least = equal2(magnitude2(x), least);
    return ((is_least & to_least) | (~is_least & to_others)) ^ (x & SIGNS);
}

INLINE Lanes message(Answers answers, Lanes x) {
    const Lanes result = {message2(answers.least.low, answers.to_least.low, answers.to_others.low, x.low),
                          message2(answers.least.high, answers.to_least.high, answers.to_others.high, x.high)};
    return result;
}

INLINE uint posterior2(uint value) {
    return product2(smaller2(saturated_sum2(value, HALVES(QUARTER)), HALVES(LARGEST)), HALVES(TO_BYTE));
}

// Posteriors of an extrinsic value and the message to it.
INLINE uint posteriors_of(Lanes x, Lanes new_message) {
    return bytes_of2(posterior2(sum2(x.low, new_message.low)), posterior2(sum2(x.high, new_message.high)),
                     0x6420);
}

// An extrinsic value as a posterior.
INLINE uint packed(Lanes x) {
    return bytes_of2(posterior2(x.low), posterior2(x.high), 0x6420);
}

INLINE uint message_bytes2(uint value) {
    return multiplied_sum2(value, HALVES(TO_BYTE), HALVES(BYTE_64));
}

INLINE uint bytes_of_messages(Lanes value) {
    return bytes_of2(message_bytes2(value.low), message_bytes2(value.high), 0x6420);
}

// Messages taken out of, and new ones put into posteriors that others have changed meanwhile.
INLINE uint changed2(uint posterior, uint before, uint after) {
    const uint old = multiplied_sum2(before, HALVES(TO_UNITS), HALVES(0x8000u | EIGHTH));
    const uint value = multiplied_sum2(posterior, HALVES(TO_UNITS), HALVES(0x8000u | QUARTER));
    return posterior2(sum2(value, sum2(after, old ^ SIGNS)));
}

INLINE uint changed(uint posteriors, uint before, Lanes after) {
    return bytes_of2(
        changed2(bytes_of2(posteriors, 0, 0x4140), bytes_of2(before, 0, 0x4140), after.low),
        changed2(bytes_of2(posteriors, 0, 0x4342), bytes_of2(before, 0, 0x4342), after.high), 0x6420);
}

#else

typedef short4 Lanes;

#define EDGES_IN_REGISTERS 5

INLINE Lanes lanes_of(uint bytes, short zero) {
    return convert_short4(as_uchar4(bytes)) - (Lanes)zero;
}

INLINE uint bytes_of(Lanes value, short zero) {
    return as_uint(convert_uchar4(value + (Lanes)zero));
}

INLINE Lanes saturated(Lanes value) {
    return clamp(value, (Lanes)(short)-128, (Lanes)(short)127);
}

INLINE Lanes magnitude(Lanes value) {
    return max(value, -value);
}

INLINE Lanes extrinsic(uint posteriors, uint messages) {
    return saturated(lanes_of(posteriors, 128) - lanes_of(messages, 64));
}

typedef struct {
    Lanes least, second, sign;
} Checks;

INLINE Checks no_edges(void) {
    const Checks checks = {(Lanes)(short)MAGNITUDE_CAP, (Lanes)(short)MAGNITUDE_CAP, (Lanes)(short)0};
    return checks;
}

INLINE void take(Checks* checks, Lanes x) {
    checks->second = min(checks->second, max(checks->least, magnitude(x)));
    checks->least = min(checks->least, magnitude(x));
    checks->sign ^= x;
}

typedef struct {
    Lanes least, to_least, to_others;
} Answers;

// With the opposite sign where `sign` is negative.
INLINE Lanes signed_by(Lanes sign, Lanes value) {
    const Lanes flip = sign >> (short)15;
    return (value ^ flip) - flip;
}

INLINE Lanes answer(Lanes least, Lanes sign) {
    return signed_by(sign, max(least - (Lanes)(short)OFFSET, (Lanes)(short)0));
}

INLINE Answers answers_of(Checks checks) {
    const Answers answers = {checks.least, answer(checks.second, checks.sign), answer(checks.least, checks.sign)};
    return answers;
}

INLINE Lanes message(Answers answers, Lanes x) {
    const Lanes is_least = magnitude(x) == answers.least;
    return signed_by(x, (is_least & answers.to_least) | (~is_least & answers.to_others));
}

// Posteriors of an extrinsic value and the message to it.
INLINE uint posteriors_of(Lanes x, Lanes new_message) {
    return bytes_of(saturated(x + new_message), 128);
}

// An extrinsic value as a posterior.
INLINE uint packed(Lanes x) {
    return bytes_of(x, 128);
}

INLINE uint bytes_of_messages(Lanes value) {
    return bytes_of(value, 64);
}

// Messages taken out of, and new ones put into posteriors that others have changed meanwhile.
INLINE uint changed(uint posteriors, uint before, Lanes after) {
    return bytes_of(saturated(lanes_of(posteriors, 128) + after - lanes_of(before, 64)), 128);
}

#endif
