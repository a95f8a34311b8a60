// Keeps the watchdog's signal away from a thread that holds a lock.
#pragma once

#include <signal.h>

namespace cpu_device {

/// The watchdog's signal may end the running device thread, which must not happen while it holds a lock.
class SignalsHeldBack {
public:
    SignalsHeldBack() {
        sigset_t every;
        sigfillset(&every);
        pthread_sigmask(SIG_SETMASK, &every, &before_);
    }
    ~SignalsHeldBack() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    SignalsHeldBack(const SignalsHeldBack&) = delete;
    SignalsHeldBack& operator=(const SignalsHeldBack&) = delete;

private:
    sigset_t before_;
};

}  // namespace cpu_device
