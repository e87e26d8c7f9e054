#pragma once

namespace tidemill::dsp {

/// Raised-cosine pulse at `t` symbols from its peak (peak 1, zero at every other whole symbol).
double raised_cosine(double t, double rolloff);

/// Square-root raised-cosine pulse of unit energy per symbol (EN 302 307-1, 5.6, has its spectrum).
double root_raised_cosine(double t, double rolloff);

/// Raised-cosine power spectrum at `f` cycles per symbol, 1 in the pass band.
double raised_cosine_spectrum(double f, double rolloff);

}  // namespace tidemill::dsp
