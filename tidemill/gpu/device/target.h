// Differences of targets. Put in front of every kernel: OpenCL C 1.2, or the same by way of PTX.

#define INLINE static inline __attribute__((always_inline))

// TIDEMILL_PTX is said where the build makes PTX. NVIDIA's own OpenCL compiler says __NVPTX__, too, and lays local
// arguments out by itself.
#ifdef TIDEMILL_PTX

// The driver lays dynamic shared memory behind what the system keeps for itself; a __local argument is an offset
// from there.
__asm__(".extern .shared .align 16 .b8 tidemill_local[];");

INLINE size_t local_begin(void) {
    ulong begin;
    __asm__("mov.u64 %0, tidemill_local;" : "=l"(begin));
    return begin;
}

#define LOCAL_ARGUMENT(type, pointer) ((__local type*)((size_t)(pointer) + local_begin()))

INLINE uint turned_left(uint word, uint bits) {
    uint result;
    __asm__("shf.l.wrap.b32 %0, %1, %1, %2;" : "=r"(result) : "r"(word), "r"(bits));
    return result;
}

INLINE uint turned_right(uint word, uint bits) {
    uint result;
    __asm__("shf.r.wrap.b32 %0, %1, %1, %2;" : "=r"(result) : "r"(word), "r"(bits));
    return result;
}

#else

#define LOCAL_ARGUMENT(type, pointer) (pointer)

INLINE uint turned_left(uint word, uint bits) {
    return rotate(word, bits & 31u);
}

INLINE uint turned_right(uint word, uint bits) {
    return rotate(word, (32u - (bits & 31u)) & 31u);
}

#endif

#ifdef __NVPTX__
// Arrays that are indexed by constants alone lie in registers.
#define UNROLL _Pragma("unroll")
#else
// The loops of work items that a processor makes of a kernel grow with every barrier.
#define UNROLL
#endif
