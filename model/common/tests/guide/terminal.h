// A terminal for a test, where this computer has any to give: containers may have no /dev/ptmx, or no /dev/pts.
//
//     const pid_t child = fork_on_terminal(terminal, &size);
//     if (child == 0) _exit(program());  // its stdin, stdout and stderr are the terminal
#pragma once

#include <pty.h>
#include <sys/types.h>
#include <unistd.h>
#include <utmp.h>

#include <catch2/catch_test_macros.hpp>
#include <cerrno>
#include <cstring>
#include <string>

/// Skips the test where there is no pseudo-terminal. A test that opens one inside of CHECK has to ask first.
inline void need_terminal() {
    int terminal = -1, slave = -1;
    if (openpty(&terminal, &slave, nullptr, nullptr, nullptr) != 0) {
        SKIP("no pseudo-terminal can be opened here: " << std::strerror(errno));
    }
    close(terminal);
    close(slave);
}

/// Forks; the child's terminal is what is typed and shown at `terminal`. Skips the test where there is no
/// pseudo-terminal.
inline pid_t fork_on_terminal(int& terminal, const winsize* size = nullptr) {
    int slave = -1;
    if (openpty(&terminal, &slave, nullptr, nullptr, size) != 0) {
        SKIP("no pseudo-terminal can be opened here: " << std::strerror(errno));
    }
    const pid_t child = fork();
    if (child == 0) {
        close(terminal);
        if (login_tty(slave) != 0) _exit(126);
    } else {
        close(slave);
    }
    return child;
}
