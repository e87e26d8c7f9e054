#pragma once

namespace tidemill {

/// Signals a spin to the processor, so that its other hardware thread gets on.
inline void relax() noexcept {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

}  // namespace tidemill
