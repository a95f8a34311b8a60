// For cases about functions that host code calls: what they return, in the order of the calls.
#pragma once

#include <cuda_runtime.h>

#include <string>

#include "common/tests/api_corpus/api_corpus.h"

namespace api_corpus {

class Log {
public:
    /// The name of an error that a call returned.
    void operator()(cudaError_t error) { results_.values.push_back(cudaGetErrorName(error)); }
    /// A number that a call gave.
    void value(long long number) { results_.values.push_back(std::to_string(number)); }
    void value(const std::string& text) { results_.values.push_back(text); }

    /// What was logged. The thread's last error is part of it, and forgotten.
    Results results() {
        results_.values.push_back(std::string("last: ") + cudaGetErrorName(cudaGetLastError()));
        return results_;
    }

private:
    Results results_;
};

}  // namespace api_corpus
