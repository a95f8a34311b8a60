#include "common/helpers/parallel_for.h"

#include <algorithm>
#include <exception>
#include <thread>
#include <vector>

namespace warpwise {

std::size_t parallel_parts(std::size_t count) {
    constexpr std::size_t least_per_thread = std::size_t{1} << 16;
    const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
    return std::clamp<std::size_t>(count / least_per_thread, 1, cores);
}

void parallel_for(std::size_t count, const std::function<void(std::size_t begin, std::size_t end)>& body) {
    parallel_for_parts(count, parallel_parts(count),
                       [&](std::size_t, std::size_t begin, std::size_t end) { body(begin, end); });
}

void parallel_for_parts(std::size_t count, std::size_t parts,
                        const std::function<void(std::size_t part, std::size_t begin, std::size_t end)>& body) {
    if (count == 0) return;
    const std::size_t length = count / parts;
    const std::size_t longer = count % parts;  // the first `longer` parts have one element more
    std::vector<std::exception_ptr> failures(parts);
    const auto run = [&](std::size_t part) {
        const std::size_t begin = part * length + std::min(part, longer);
        const std::size_t end = begin + length + (part < longer ? 1 : 0);
        try {
            if (begin < end) body(part, begin, end);
        } catch (...) {
            failures[part] = std::current_exception();
        }
    };
    {
        std::vector<std::jthread> threads;
        for (std::size_t part = 1; part < parts; ++part) threads.emplace_back(run, part);
        run(0);
    }
    for (const std::exception_ptr& failure : failures) {
        if (failure) std::rethrow_exception(failure);
    }
}

}  // namespace warpwise
