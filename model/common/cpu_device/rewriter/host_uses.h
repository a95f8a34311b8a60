// Names of variables on the wrong side: host code that reads or writes a device variable, which on a GPU is a copy of
// the host's own, and device code that uses a variable of the host, which nvcc refuses.
#pragma once

#include <vector>

#include "analysis.h"
#include "scopes.h"
#include "token_sequence.h"

namespace cpu_device::rewriter {

/// At the name at `i`: keeps it if it surely stands in host code and is surely read or written there, whatever
/// variable it turns out to be. A name whose address or a reference to which may be meant is left alone, because in
/// cudaMemcpyToSymbol and its kin the name stands for the device's variable.
void note_host_use(std::size_t i, const TokenSequence& tokens, Scopes& scopes, Analysis& analysis);

/// At the name at `i`: keeps it if it surely stands in device code and may be that of a variable of the host that this
/// file has defined.
void note_use_in_device_code(std::size_t i, const TokenSequence& tokens, Scopes& scopes, Analysis& analysis);

/// At the name at `i`: keeps it if it surely stands in device code and is surely written to there.
void note_write_in_device_code(std::size_t i, const TokenSequence& tokens, Scopes& scopes, Analysis& analysis);

/// Adds what sends the uses of device variables that `analysis` holds to the host's copies. `visible` is the file with
/// all that it includes.
void redirect_host_uses(const Analysis& analysis, const std::vector<const Analysis*>& visible,
                        std::vector<Edit>& edits);

}  // namespace cpu_device::rewriter
