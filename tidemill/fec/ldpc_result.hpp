#pragma once

namespace tidemill::fec {

/// How the decoding of one FECFRAME ended.
struct LdpcResult {
    int iterations;  ///< sweeps over all checks, the last one counted whole
    bool converged;  ///< the decisions are a codeword

    bool operator==(const LdpcResult&) const = default;
};

}  // namespace tidemill::fec
