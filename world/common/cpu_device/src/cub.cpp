// Device-wide algorithms of CUB: what their headers need of the runtime.
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "activity_log.h"
#include "api_call.h"
#include "capture.h"
#include "cpu_device/cub_host.h"
#include "cpu_device/host_access.h"
#include "device_work.h"
#include "diagnoser.h"
#include "operands.h"
#include "stream_order.h"
#include "streams.h"

namespace cpu_device {

cudaError_t run_algorithm(const AlgorithmCall& call, bool (*body)(void*, const AlgorithmCall&), void* context) {
    const ApiCall as{call.function, call.site};
    const auto run = [&] {
        if (logs_activity()) log_stream(call.stream);
        if (!stream_exists(call.stream)) return cudaErrorInvalidResourceHandle;
        if (is_captured(call.stream)) return unsupported("the capture of an algorithm of CUB", call.site);
        nothing_overlaps();
        (void)finish_stream(call.stream);
        note_order(OrderStep::work, call.stream);
        if (call.storage_needed > 0) {
            if (call.storage_bytes < call.storage_needed) return cudaErrorInvalidValue;
            if (!is_for_device(as, "temporary storage", call.storage, call.storage_needed))
                return cudaErrorIllegalAddress;
        }
        for (std::size_t i = 0; i < call.operand_count; ++i)
            if (!is_usable(call, call.operands[i])) return cudaErrorIllegalAddress;
        const HostAccess allowed;
        return body(context, call) ? cudaSuccess : cudaErrorIllegalAddress;
    };
    return api_call(Waits::no, run, as);
}

bool is_usable(const AlgorithmCall& call, const AlgorithmOperand& operand) {
    return !operand.is_known || is_for_device({call.function, call.site}, operand.role, operand.pointer, operand.bytes);
}

void order_by_bits(const std::vector<std::uint64_t>& bits, std::vector<std::size_t>& order) {
    constexpr int digit_bits = 8, digits = 1 << digit_bits;
    order.resize(bits.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::uint64_t differing = 0;
    for (const std::uint64_t word : bits) differing |= word ^ bits[0];
    std::vector<std::size_t> next(bits.size());
    for (int shift = 0; shift < 64; shift += digit_bits) {
        if ((differing >> shift & (digits - 1)) == 0) continue;
        std::size_t places[digits + 1] = {};
        for (const std::uint64_t word : bits) ++places[(word >> shift & (digits - 1)) + 1];
        for (int digit = 0; digit < digits; ++digit) places[digit + 1] += places[digit];
        for (const std::size_t i : order) next[places[bits[i] >> shift & (digits - 1)]++] = i;
        order.swap(next);
    }
}

}  // namespace cpu_device
