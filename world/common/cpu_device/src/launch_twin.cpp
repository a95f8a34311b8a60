#include "launch_twin.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "allocations.h"

namespace cpu_device {
namespace {

constexpr unsigned kMostSeconds = 10;

/// Of all memory of the device.
std::uint64_t hash_of_memory(int failure) {
    std::uint64_t hash = 0xCBF29CE484222325u + static_cast<unsigned>(failure);
    const auto add = [&hash](std::uint64_t word) { hash = (hash ^ word ^ hash >> 29) * 0x9E3779B97F4A7C15u; };
    for (const Allocation& allocation : live_allocations()) {
        if (allocation.constant) continue;
        std::size_t at = 0;
        for (; at + 8 <= allocation.bytes; at += 8) {
            std::uint64_t word = 0;
            std::memcpy(&word, allocation.address + at, 8);
            add(word);
        }
        for (; at < allocation.bytes; ++at) add(static_cast<std::uint64_t>(allocation.address[at]));
    }
    return hash;
}

}  // namespace

LaunchTwin::~LaunchTwin() {
    if (result_ >= 0) close(result_);
    if (copy_ <= 0) return;
    kill(copy_, SIGKILL);
    while (waitpid(copy_, nullptr, 0) < 0 && errno == EINTR) {
    }
}

void LaunchTwin::start() {
    if (tried_) return;
    tried_ = true;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return;
    copy_ = fork();
    if (copy_ == 0) {
        close(ends[0]);
        original_ = ends[1];
        const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
        for (const int file : {STDOUT_FILENO, STDERR_FILENO}) dup2(nowhere, file);
        signal(SIGALRM, SIG_DFL);
        alarm(kMostSeconds);
        return;
    }
    close(ends[1]);
    result_ = ends[0];
}

void LaunchTwin::end_copy(int failure) const {
    const std::uint64_t hash = hash_of_memory(failure);
    const bool written = write(original_, &hash, sizeof hash) == sizeof hash;
    _exit(written ? 0 : 1);
}

std::optional<bool> LaunchTwin::has_same_result(int failure) {
    if (copy_ <= 0) return std::nullopt;
    pollfd ready{result_, POLLIN, 0};
    int events = 0;
    do {
        events = poll(&ready, 1, static_cast<int>(kMostSeconds) * 1000);
    } while (events < 0 && errno == EINTR);
    std::uint64_t hash = 0;
    if (events <= 0 || read(result_, &hash, sizeof hash) != sizeof hash) return std::nullopt;
    return hash == hash_of_memory(failure);
}

}  // namespace cpu_device
