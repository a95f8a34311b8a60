// What ends all ranks with a message, whatever one of them runs into.
//
//     Watchdog watchdog(rank, ranks, 20.0);
//     watchdog.now_in("ncclAllReduce of 1000 floats");   // what the others are told
//     watchdog.watch(communicator);                      // errors of NCCL, asked for
//     end_all(rank, "no memory");                        // prints, and ends all ranks
//
// A collective operation waits for all ranks. So an error of one rank, which that rank
// knows, is a wait without an end for the others, and they cannot tell it from a slow rank.
#pragma once

#include <mpi.h>
#include <nccl.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace several_gpus {

// The message first: what MPI_Abort makes of the other ranks is not in our hands. It must
// not wait for the device, or for NCCL, which may never answer any more.
[[noreturn]] inline void end_all(int rank, const std::string& message) {
    static std::atomic<bool> ending = false;
    if (ending.exchange(true)) pause();  // another thread of this rank is ending it
    const std::string line =
        "several_gpus_mpi: rank " + std::to_string(rank) + ": " + message + "\n";
    std::fflush(stdout);
    (void)!write(STDERR_FILENO, line.data(), line.size());
    // mpirun forwards what is in the pipe, and drops what comes after the abort.
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    std::signal(SIGALRM, SIG_DFL);
    alarm(5);  // if MPI_Abort hangs: mpirun ends the others when one rank dies
    MPI_Abort(MPI_COMM_WORLD, 1);
    _exit(1);
}

// A thread of each rank. Twice per second it tells rank 0 what this rank is doing, and asks
// NCCL whether a communicator has failed. If a rank stays longer than `patience` seconds in
// one place, or if rank 0 hears nothing of a rank for so long, all ranks are ended.
class Watchdog {
public:
    Watchdog(int rank, int ranks, double patience)
        : rank_(rank), ranks_(ranks), patience_(patience) {
        MPI_Comm_dup(MPI_COMM_WORLD, &heartbeats_);
        last_.resize(std::size_t(ranks));
        places_.resize(std::size_t(ranks), "nowhere yet");
        const Clock::time_point now = Clock::now();
        for (Clock::time_point& time : last_) time = now;
        since_ = now;
        thread_ = std::thread([this] { run(); });
    }
    // To be called by all ranks, when all is well.
    void stop() {
        stopping_ = true;
        thread_.join();
    }

    // What this rank does from now on, and waits for others in.
    void now_in(const std::string& place) {
        const std::lock_guard lock(mutex_);
        place_ = place;
        since_ = Clock::now();
    }
    void watch(ncclComm_t communicator) { communicator_ = communicator; }

private:
    using Clock = std::chrono::steady_clock;
    struct Heartbeat {
        char place[120];
    };

    static double seconds_since(Clock::time_point time) {
        return std::chrono::duration<double>(Clock::now() - time).count();
    }

    void run() {
        while (!stopping_) {
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
            if (++turns_ % 5 != 0) continue;
            look_at_nccl();
            if (rank_ == 0) {
                hear_others();
            } else {
                tell_rank_0();
            }
            look_at_time();
        }
        if (request_ != MPI_REQUEST_NULL) MPI_Request_free(&request_);
    }

    void look_at_nccl() {
        const ncclComm_t communicator = communicator_;
        if (communicator == nullptr) return;
        ncclResult_t error = ncclSuccess;
        if (ncclCommGetAsyncError(communicator, &error) != ncclSuccess) return;
        if (error != ncclSuccess && error != ncclInProgress)
            end_all(rank_, std::string("NCCL: ") + ncclGetErrorString(error) + ", in " +
                               place_now());
    }

    void tell_rank_0() {
        int sent = 1;
        if (request_ != MPI_REQUEST_NULL) MPI_Test(&request_, &sent, MPI_STATUS_IGNORE);
        if (!sent) return;  // rank 0 has not taken the one before
        std::snprintf(beat_.place, sizeof beat_.place, "%s", place_now().c_str());
        MPI_Isend(&beat_, sizeof beat_, MPI_CHAR, 0, 0, heartbeats_, &request_);
    }

    void hear_others() {
        last_[0] = Clock::now();
        places_[0] = place_now();
        for (;;) {
            int is_there = 0;
            MPI_Status status;
            MPI_Iprobe(MPI_ANY_SOURCE, 0, heartbeats_, &is_there, &status);
            if (!is_there) return;
            Heartbeat beat{};
            MPI_Recv(&beat, sizeof beat, MPI_CHAR, status.MPI_SOURCE, 0, heartbeats_,
                     MPI_STATUS_IGNORE);
            beat.place[sizeof beat.place - 1] = '\0';
            last_[std::size_t(status.MPI_SOURCE)] = Clock::now();
            places_[std::size_t(status.MPI_SOURCE)] = beat.place;
        }
    }

    void look_at_time() {
        double here = 0;
        {
            const std::lock_guard lock(mutex_);
            here = seconds_since(since_);
        }
        // Rank 0 knows where the others are, so it is the one to speak; if it cannot, the
        // others do so, later.
        const double patience = rank_ == 0 ? patience_ : patience_ + 3;
        if (rank_ == 0) {
            for (int other = 1; other < ranks_; ++other)
                if (seconds_since(last_[std::size_t(other)]) > patience)
                    end_all(rank_, "no sign of life of rank " + std::to_string(other) +
                                       " since it was in " + where(other));
        }
        if (here <= patience) return;
        std::string message = "waits in " + place_now() + " for more than " +
                              std::to_string(static_cast<int>(patience)) + " s";
        for (int other = 1; rank_ == 0 && other < ranks_; ++other)
            if (places_[std::size_t(other)] != places_[0])
                message += "; rank " + std::to_string(other) + " is in " + where(other);
        end_all(rank_, message);
    }

    std::string where(int rank) const { return places_[std::size_t(rank)]; }
    std::string place_now() {
        const std::lock_guard lock(mutex_);
        return place_;
    }

    int rank_, ranks_;
    double patience_;
    MPI_Comm heartbeats_ = MPI_COMM_NULL;
    MPI_Request request_ = MPI_REQUEST_NULL;
    Heartbeat beat_{};
    std::vector<Clock::time_point> last_;  // of rank 0: when it heard each rank
    std::vector<std::string> places_;
    std::mutex mutex_;
    std::string place_ = "the start";
    Clock::time_point since_;
    std::atomic<ncclComm_t> communicator_ = nullptr;
    std::atomic<bool> stopping_ = false;
    unsigned turns_ = 0;
    std::thread thread_;
};

}  // namespace several_gpus
