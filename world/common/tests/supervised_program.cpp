// A grader that an answer tries to end, for grading_test.cpp: `supervised_program how`.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "common/grading/supervisor.h"

namespace {

std::string_view how;

/// The command line, before main has it.
struct Early {
    Early() {
        static char line[4096];
        FILE* file = std::fopen("/proc/self/cmdline", "r");
        const std::size_t size = file == nullptr ? 0 : std::fread(line, 1, sizeof line - 1, file);
        if (file != nullptr) std::fclose(file);
        const std::size_t name = std::strlen(line) + 1;
        if (name < size) how = line + name;
        if (how == "before main") std::_Exit(0);
    }
} early;

void pretend_to_be_done() {
    std::puts("All tests passed\nsupervised_program: solved.");
    std::fflush(stdout);
}

}  // namespace

int main() {
    if (how == "exit") std::exit(0);
    if (how == "_Exit") std::_Exit(0);
    if (how == "quick_exit") std::quick_exit(0);
    if (how == "exit with 1") std::exit(1);
    if (how == "says solved") {
        pretend_to_be_done();
        std::_Exit(0);
    }
    if (how == "SIGTERM") std::raise(SIGTERM);
    if (how == "abort handler") {
        std::signal(SIGABRT, [](int) { std::_Exit(0); });
        std::abort();
    }
    if (how == "execs true") execl("/bin/true", "true", nullptr);
    if (how == "forks and leaves") {
        if (fork() != 0) std::_Exit(0);
        // The copy goes on as if nothing had happened.
    }
    if (how == "forks and waits") {
        const pid_t copy = fork();
        if (copy == 0) std::_Exit(0);
        waitpid(copy, nullptr, 0);
    }
    if (how == "closes everything") {
        for (int file = 3; file < 64; ++file) close(file);
    }
    if (how == "writes everywhere") {
        const char text[64] = "passed";
        for (int file = 3; file < 64; ++file) {
            if (write(file, text, sizeof text) < 0) continue;
        }
        std::_Exit(0);
    }
    const int status = how == "fails" ? 1 : 0;
    if (how == "exits late with 0") {
        std::atexit([] { std::_Exit(0); });
        return grading::send_record({1, 0, 1});
    }
    return grading::send_record({status, 1, 0});
}
