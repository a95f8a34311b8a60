#include "common/guide/command.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "common/helpers/child_process.h"

namespace guide {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds poll_period(50);
constexpr milliseconds grace_period(1000);   // between SIGTERM and SIGKILL
constexpr milliseconds patience(5000);       // after SIGKILL: a process in the GPU's driver may take its time
constexpr std::size_t kept_bytes = 1 << 20;  // of the beginning and of the end of a long output
constexpr int not_started = 127;

// ---- signals that end the guide -----------------------------------------------------------------------------------

constexpr std::array fatal_signals{SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGPIPE};

std::mutex cleanup_mutex;
int cleanups = 0;
std::array<struct sigaction, fatal_signals.size()> former_actions;
std::atomic<pid_t> guide_process = 0;
std::atomic<void (*)()> terminal_restorer = nullptr;
std::atomic<pid_t> terminal_lent_to = 0;  // a program's process group; 0: none

/// What is running, as kill() wants it: minus a process group, or a process; 0: a free place.
std::array<std::atomic<pid_t>, 32> running;

void send(pid_t target, int signal) {
    kill(target, signal);
    if (signal == SIGTERM) kill(target, SIGCONT);  // a stopped process cannot end
}

/// All down to on_fatal_signal is called by a signal handler.
///
/// Puts the guide in the terminal's foreground again, unless that is some other job's by now.
void take_terminal_back() {
    const pid_t program = terminal_lent_to;
    if (program == 0) return;
    const pid_t foreground = tcgetpgrp(STDIN_FILENO);
    const bool nobody_is_there = foreground > 0 && kill(-foreground, 0) == -1 && errno == ESRCH;
    if (foreground == program || nobody_is_there) tcsetpgrp(STDIN_FILENO, getpgrp());
}

void end_running_programs() {
    for (const std::atomic<pid_t>& target : running) {
        if (target != 0) send(target, SIGTERM);
    }
    // ninja has to end its compilers itself: each of them is a group of its own.
    for (int waited = 0; waited < grace_period.count(); waited += 10) {
        bool some_left = false;
        for (const std::atomic<pid_t>& target : running) {
            const pid_t leader = std::abs(target.load());
            siginfo_t end{};
            const bool is_child =
                leader != 0 && waitid(P_PID, static_cast<id_t>(leader), &end, WEXITED | WNOHANG | WNOWAIT) == 0;
            some_left = some_left || (is_child && end.si_pid == 0);
        }
        if (!some_left) break;
        poll(nullptr, 0, 10);
    }
    for (const std::atomic<pid_t>& target : running) {
        if (target != 0) send(target, SIGKILL);
    }
}

void on_fatal_signal(int signal) {
    const int error = errno;
    if (getpid() == guide_process) {  // not in a child that has not become another program yet
        if (void (*const restore)() = terminal_restorer.load(); restore != nullptr) restore();
        end_running_programs();
        take_terminal_back();
    }
    const auto position =
        static_cast<std::size_t>(std::find(fatal_signals.begin(), fatal_signals.end(), signal) - fatal_signals.begin());
    struct sigaction own {};
    sigaction(signal, &former_actions[position], &own);
    raise(signal);
    sigset_t this_one;
    sigemptyset(&this_one);
    sigaddset(&this_one, signal);
    pthread_sigmask(SIG_UNBLOCK, &this_one, nullptr);  // it comes here, and as a rule this is the end
    sigaction(signal, &own, nullptr);
    errno = error;
}

/// Lists a program among those that end with the guide.
class Registration {
public:
    explicit Registration(pid_t target) {
        for (std::atomic<pid_t>& place : running) {
            pid_t free = 0;
            if (place.compare_exchange_strong(free, target)) {
                place_ = &place;
                return;
            }
        }
    }
    ~Registration() { remove(); }
    Registration(const Registration&) = delete;
    Registration& operator=(const Registration&) = delete;

    void remove() {
        if (place_ != nullptr) place_->store(0);
        place_ = nullptr;
    }

private:
    std::atomic<pid_t>* place_ = nullptr;  ///< null: there was none free, and the program has to end by itself
};

/// No signal comes to this thread while it lives; former() is the mask for a child.
class SignalsBlocked {
public:
    SignalsBlocked() {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &former_);
    }
    ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &former_, nullptr); }
    SignalsBlocked(const SignalsBlocked&) = delete;
    SignalsBlocked& operator=(const SignalsBlocked&) = delete;

    const sigset_t& former() const { return former_; }

private:
    sigset_t former_{};
};

// ---- starting -----------------------------------------------------------------------------------------------------

class Descriptor {
public:
    explicit Descriptor(int value = -1) : value_(value) {}
    ~Descriptor() { reset(); }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;

    int get() const { return value_; }
    void reset(int value = -1) {
        if (value_ != -1) close(value_);
        value_ = value;
    }

private:
    int value_;
};

[[noreturn]] void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

/// Moves it out of the way of 0, 1 and 2, which are free when the guide was started without them.
int above_standard(int descriptor) {
    if (descriptor < 0 || descriptor > STDERR_FILENO) return descriptor;
    const int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    close(descriptor);
    return moved;
}

struct Pipe {
    Pipe() {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) != 0) fail("cannot make a pipe");
        read_end.reset(above_standard(ends[0]));
        write_end.reset(above_standard(ends[1]));
    }
    Descriptor read_end;
    Descriptor write_end;
};

enum class Group { guides, own, own_in_foreground };

struct StartFailure {
    bool in_folder = false;  ///< the folder could not be entered; else the program could not be executed
    int error = 0;
};

/// What a child needs between fork and exec, where nothing may be allocated.
struct Launch {
    char* const* arguments;
    char* const* environment;
    const char* folder;  ///< null: where the guide is
    int input;           ///< -1: the guide's own files
    int output;
    int failure;  ///< a StartFailure goes here
    Group group;
    pid_t parent;
    const sigset_t* signals;
};

[[noreturn]] void become_program(const Launch& launch) {
    const auto give_up = [&](bool in_folder) {
        const StartFailure failure{in_folder, errno};
        [[maybe_unused]] const ssize_t written = write(launch.failure, &failure, sizeof failure);
        _exit(not_started);
    };
    if (launch.group != Group::guides) setpgid(0, 0);
    if (launch.group == Group::own_in_foreground) tcsetpgrp(STDIN_FILENO, getpid());  // SIGTTOU is blocked
    // When the guide is killed outright. An editor saves what it holds at SIGHUP.
    prctl(PR_SET_PDEATHSIG, launch.input == -1 ? SIGHUP : SIGTERM);
    if (getppid() != launch.parent) _exit(not_started);
    if (launch.input != -1) {
        dup2(launch.input, STDIN_FILENO);
        dup2(launch.output, STDOUT_FILENO);
        dup2(launch.output, STDERR_FILENO);
    }
    if (launch.folder != nullptr && chdir(launch.folder) != 0) give_up(true);
    pthread_sigmask(SIG_SETMASK, launch.signals, nullptr);
    // A program that another build is just linking is busy until it is done.
    for (int attempt = 0; attempt < 100; ++attempt) {
        execvpe(launch.arguments[0], launch.arguments, launch.environment);
        if (errno != ETXTBSY) break;
        const timespec pause{0, 50'000'000};
        nanosleep(&pause, nullptr);
    }
    give_up(false);
    _exit(not_started);
}

/// A program that was started. Its destructor ends it, for the case that a callback throws.
class Program {
public:
    /// Reads nothing and writes into `output`; -1: it has the guide's own files.
    Program(const std::vector<std::string>& arguments, const CommandOptions& options, Group group, int output);
    ~Program() {
        if (process_ != -1) finish();
    }
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    const std::string& failure() const { return failure_; }  ///< why it could not be started; empty: it was
    pid_t process() const { return process_; }
    int end_descriptor() const { return end_.get(); }  ///< readable at its end; -1: this Linux has none
    void signal(int number) const { send(group_ == Group::guides ? process_ : -process_, number); }
    bool has_ended() const { return has_changed(WEXITED | WNOWAIT); }
    bool has_changed(int kinds, siginfo_t* info = nullptr) const;

    /// Kills what is left of it, and returns the exit status.
    int finish();

private:
    Group group_;
    pid_t process_ = -1;
    std::string failure_;
    std::optional<Registration> registration_;
    Descriptor end_;
};

std::string failure_text(const std::string& program, const std::string& folder, const StartFailure& failure) {
    const char* reason = std::strerror(failure.error);
    if (failure.in_folder) return fmt::format("cannot start {}: {}: {}\n", program, folder, reason);
    return fmt::format("cannot start {}: {}\n", program, reason);
}

Program::Program(const std::vector<std::string>& arguments, const CommandOptions& options, Group group, int output)
    : group_(group) {
    std::vector<std::string> own_arguments = arguments;
    std::vector<std::string> environment = warpwise::environment_with(options.variables);
    const std::vector<char*> argument_pointers = warpwise::pointers_to(own_arguments);
    const std::vector<char*> environment_pointers = warpwise::pointers_to(environment);
    const std::string folder = options.folder.string();
    const Descriptor nothing(output == -1 ? -1 : above_standard(open("/dev/null", O_RDONLY | O_CLOEXEC)));
    if (output != -1 && nothing.get() == -1) fail("cannot open /dev/null");
    Pipe failures;
    warpwise::listen_to_children();
    {
        // Between fork and the registration no signal may end the guide, and none may reach the child in its place.
        const SignalsBlocked blocked;
        const Launch launch{argument_pointers.data(),
                            environment_pointers.data(),
                            folder.empty() ? nullptr : folder.c_str(),
                            nothing.get(),
                            output,
                            failures.write_end.get(),
                            group,
                            getpid(),
                            &blocked.former()};
        process_ = fork();
        if (process_ == 0) become_program(launch);
        if (process_ == -1) fail("cannot start another process");
        if (group != Group::guides) setpgid(process_, process_);  // whoever of the two comes first
        registration_.emplace(group == Group::guides ? process_ : -process_);
    }
    failures.write_end.reset();
    StartFailure failure;
    ssize_t count = 0;
    while ((count = read(failures.read_end.get(), &failure, sizeof failure)) == -1 && errno == EINTR) {
    }
    if (count == static_cast<ssize_t>(sizeof failure)) {
        finish();
        failure_ = failure_text(arguments[0], folder, failure);
        return;
    }
    end_.reset(static_cast<int>(syscall(SYS_pidfd_open, process_, 0)));
}

bool Program::has_changed(int kinds, siginfo_t* info) const {
    siginfo_t own{};
    siginfo_t& change = info == nullptr ? own : *info;
    change.si_pid = 0;
    if (waitid(P_PID, static_cast<id_t>(process_), &change, kinds | WNOHANG) != 0) {
        return (kinds & WEXITED) != 0 && errno == ECHILD;  // somebody else has waited for it
    }
    return change.si_pid == process_;
}

int Program::finish() {
    signal(SIGKILL);  // until it is waited for, nobody else can have its number
    const Clock::time_point given_up = Clock::now() + patience;
    while (!has_ended() && Clock::now() < given_up) std::this_thread::sleep_for(milliseconds(1));
    registration_.reset();
    int status = SIGKILL;  // as if it had been ended by that already
    if (waitpid(process_, &status, WNOHANG) == -1) status = W_EXITCODE(not_started, 0);
    process_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// ---- stopping -----------------------------------------------------------------------------------------------------

/// Ends a program when its time is up or somebody wants it: SIGTERM, and after a while SIGKILL.
class Stopper {
public:
    Stopper(const Program& program, const CommandOptions& options) : program_(program), options_(options) {
        if (options.limit_seconds <= 0) return;
        constexpr double longest = 1e8;  // seconds, three years
        const std::chrono::duration<double> limit(std::min(options.limit_seconds, longest));
        limit_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(limit);
    }

    /// To be called often. False when there is nothing left to wait for.
    bool goes_on(bool has_ended, CommandResult& result) {
        const Clock::time_point now = Clock::now();
        if (!has_ended && !kill_time_) {
            if (limit_ && now >= *limit_) {
                result.timed_out = true;
                stop(now);
            } else if (options_.cancelled && now >= next_question_) {
                next_question_ = now + poll_period;
                result.cancelled = options_.cancelled();
                if (result.cancelled) stop(now);
            }
        }
        if (has_ended && !kill_time_) stop(now);  // others that it has left behind
        if (!kill_time_ || now < *kill_time_) return true;
        program_.signal(SIGKILL);
        return !has_ended && now < *kill_time_ + patience;
    }

private:
    void stop(Clock::time_point now) {
        program_.signal(SIGTERM);
        kill_time_ = now + grace_period;
    }

    const Program& program_;
    const CommandOptions& options_;
    std::optional<Clock::time_point> limit_;
    std::optional<Clock::time_point> kill_time_;
    Clock::time_point next_question_;  ///< at once, so that what was cancelled before it began does not go on
};

// ---- output -------------------------------------------------------------------------------------------------------

/// The beginning and the end of an output of any length.
class KeptOutput {
public:
    void append(std::string_view piece) {
        const std::size_t room = kept_bytes - begin_.size();
        begin_.append(piece.substr(0, room));
        piece.remove_prefix(std::min(room, piece.size()));
        end_.append(piece);
        if (end_.size() > 2 * kept_bytes) {  // not at each piece: what stays has to be moved
            left_out_ += end_.size() - kept_bytes;
            end_.erase(0, end_.size() - kept_bytes);
        }
    }

    std::string take() {
        if (end_.size() > kept_bytes) {
            left_out_ += end_.size() - kept_bytes;
            end_.erase(0, end_.size() - kept_bytes);
        }
        if (left_out_ == 0) return std::move(begin_) + end_;
        // Whole lines, where lines are not too long for that.
        const std::size_t last = begin_.rfind('\n');
        if (last != std::string::npos && begin_.size() - last < longest_line) {
            left_out_ += begin_.size() - (last + 1);
            begin_.resize(last + 1);
        } else {
            begin_ += '\n';
        }
        const std::size_t first = end_.find('\n');
        if (first < longest_line) {
            left_out_ += first + 1;
            end_.erase(0, first + 1);
        }
        return fmt::format("{}[... {} bytes left out ...]\n{}", begin_, left_out_, end_);
    }

private:
    static constexpr std::size_t longest_line = 1 << 14;
    std::string begin_;
    std::string end_;
    std::size_t left_out_ = 0;
};

/// Reads what there is, but not for ever from a program that never stops writing. False at the end.
bool read_available(int descriptor, KeptOutput& kept, const CommandOptions& options) {
    std::array<char, 1 << 16> buffer;
    for (int times = 0; times < 16; ++times) {
        const ssize_t count = read(descriptor, buffer.data(), buffer.size());
        if (count == -1) return errno == EAGAIN || errno == EINTR;
        if (count == 0) return false;
        const std::string_view piece(buffer.data(), static_cast<std::size_t>(count));
        kept.append(piece);
        if (options.on_output) options.on_output(piece);
    }
    return true;
}

/// Waits for output (-1: for none) or the program's end, at most for the period.
void wait_for(int output, const Program& program) {
    std::array<pollfd, 2> events{{{output, POLLIN, 0}, {program.end_descriptor(), POLLIN, 0}}};
    const bool sees_the_end = output != -1 || program.end_descriptor() != -1;
    poll(events.data(), events.size(), sees_the_end ? static_cast<int>(poll_period.count()) : 5);
}

CommandResult run_with_pipe(const std::vector<std::string>& arguments, const CommandOptions& options) {
    CommandResult result;
    Pipe pipe;
    fcntl(pipe.read_end.get(), F_SETFL, O_NONBLOCK);
    Program program(arguments, options, Group::own, pipe.write_end.get());
    pipe.write_end.reset();
    if (!program.failure().empty()) {
        result.output = program.failure();
        if (options.on_output) options.on_output(result.output);
        return result;
    }
    Stopper stopper(program, options);
    KeptOutput kept;
    bool ended = false;
    bool readable = true;
    bool goes_on = true;
    while (goes_on && !(ended && !readable)) {
        // What has ended stays readable for poll: then there is only output to wait for.
        if (ended) {
            pollfd event{pipe.read_end.get(), POLLIN, 0};
            poll(&event, 1, static_cast<int>(poll_period.count()));
        } else {
            wait_for(readable ? pipe.read_end.get() : -1, program);
        }
        ended = ended || program.has_ended();
        if (readable) readable = read_available(pipe.read_end.get(), kept, options);
        if (ended && !readable) break;
        goes_on = stopper.goes_on(ended, result);
    }
    result.status = program.finish();
    result.output = kept.take();
    return result;
}

// ---- programs with the terminal -----------------------------------------------------------------------------------

/// The terminal is lent to a program for as long as this lives; then the guide has it back as it was.
class LentTerminal {
public:
    LentTerminal() { has_modes_ = tcgetattr(STDIN_FILENO, &modes_) == 0; }
    ~LentTerminal() {
        take_back();
        terminal_lent_to = 0;
    }
    LentTerminal(const LentTerminal&) = delete;
    LentTerminal& operator=(const LentTerminal&) = delete;

    /// The program has put itself in the foreground.
    void lent_to(const Program& program) { terminal_lent_to = program.process(); }

    /// The program was stopped: by Ctrl-Z, and then so is the guide until the shell lets both go on; or because it used
    /// the terminal while it was in the background.
    void stop_with(const Program& program, int signal) {
        termios of_program{};
        const bool known = tcgetattr(STDIN_FILENO, &of_program) == 0;
        const bool wants_terminal = signal == SIGTTIN || signal == SIGTTOU;
        const bool has_terminal = tcgetpgrp(STDIN_FILENO) == program.process();
        if (!has_terminal && !is_in_foreground()) {
            kill(0, signal);
        } else if (!wants_terminal) {
            take_back();
            kill(0, SIGTSTP);
            if (known && is_in_foreground()) set_modes(of_program);
        }
        give(program);
        program.signal(SIGCONT);
    }

    /// To be called now and then: after the shell's `fg` the guide is in front, and not the program.
    void give(const Program& program) const {
        if (!is_in_foreground()) return;
        const SignalsBlocked blocked;
        tcsetpgrp(STDIN_FILENO, program.process());
    }

private:
    /// With SIGTTOU blocked the terminal takes settings from the background, too.
    void take_back() const {
        const SignalsBlocked blocked;
        take_terminal_back();
        if (has_modes_ && is_in_foreground()) tcsetattr(STDIN_FILENO, TCSANOW, &modes_);
    }

    static void set_modes(const termios& modes) {
        const SignalsBlocked blocked;
        tcsetattr(STDIN_FILENO, TCSANOW, &modes);
    }

    termios modes_{};
    bool has_modes_ = false;
};

/// Ctrl-C is for the program in the same process group alone.
class InterruptsIgnored {
public:
    InterruptsIgnored() {
        struct sigaction ignored {};
        ignored.sa_handler = SIG_IGN;
        sigaction(SIGINT, &ignored, &interrupt_);
        sigaction(SIGQUIT, &ignored, &quit_);
    }
    ~InterruptsIgnored() {
        sigaction(SIGINT, &interrupt_, nullptr);
        sigaction(SIGQUIT, &quit_, nullptr);
    }
    InterruptsIgnored(const InterruptsIgnored&) = delete;
    InterruptsIgnored& operator=(const InterruptsIgnored&) = delete;

private:
    struct sigaction interrupt_ {};
    struct sigaction quit_ {};
};

CommandResult run_on_terminal(const std::vector<std::string>& arguments, const CommandOptions& options) {
    CommandResult result;
    const bool lends = isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0 && is_in_foreground();
    std::optional<LentTerminal> terminal;
    if (lends) terminal.emplace();
    Program program(arguments, options, lends ? Group::own_in_foreground : Group::guides, -1);
    if (!program.failure().empty()) {
        result.output = program.failure();
        return result;
    }
    if (lends) terminal->lent_to(program);
    std::optional<InterruptsIgnored> ignored;
    if (!lends) ignored.emplace();
    Stopper stopper(program, options);
    while (!program.has_ended() && stopper.goes_on(false, result)) {
        wait_for(-1, program);
        siginfo_t stopped{};
        if (!lends) continue;
        if (program.has_changed(WSTOPPED, &stopped)) {
            terminal->stop_with(program, stopped.si_status);
        } else {
            terminal->give(program);
        }
    }
    result.status = program.finish();
    return result;
}

}  // namespace

bool is_in_foreground() {
    const pid_t foreground = tcgetpgrp(STDIN_FILENO);
    // A terminal that is nobody's controlling terminal has no foreground, and everybody may use it.
    return foreground == -1 ? errno == ENOTTY && isatty(STDIN_FILENO) != 0 : foreground == getpgrp();
}

SignalCleanup::SignalCleanup() {
    const std::lock_guard lock(cleanup_mutex);
    if (cleanups++ != 0) return;
    guide_process = getpid();
    struct sigaction action {};
    action.sa_handler = on_fatal_signal;
    action.sa_flags = SA_RESTART;
    sigfillset(&action.sa_mask);
    for (std::size_t i = 0; i < fatal_signals.size(); ++i) {
        sigaction(fatal_signals[i], nullptr, &former_actions[i]);
        const bool is_ignored =
            (former_actions[i].sa_flags & SA_SIGINFO) == 0 && former_actions[i].sa_handler == SIG_IGN;
        if (!is_ignored) sigaction(fatal_signals[i], &action, nullptr);  // nohup stays nohup
    }
}

SignalCleanup::~SignalCleanup() {
    const std::lock_guard lock(cleanup_mutex);
    if (--cleanups != 0) return;
    for (std::size_t i = 0; i < fatal_signals.size(); ++i) sigaction(fatal_signals[i], &former_actions[i], nullptr);
}

void restore_terminal_with(void (*restore)()) { terminal_restorer = restore; }

CommandResult run_command(const std::vector<std::string>& arguments, const CommandOptions& options) {
    if (arguments.empty()) throw std::invalid_argument("run_command needs a program's name");
    const Clock::time_point begin = Clock::now();
    const SignalCleanup cleanup;
    CommandResult result =
        options.owns_terminal ? run_on_terminal(arguments, options) : run_with_pipe(arguments, options);
    result.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    return result;
}

bool has_program(const std::string& name) {
    const auto can_be_executed = [](const std::filesystem::path& file) {
        std::error_code error;
        return std::filesystem::is_regular_file(file, error) && access(file.c_str(), X_OK) == 0;
    };
    if (name.empty()) return false;
    if (name.find('/') != std::string::npos) return can_be_executed(name);
    const char* variable = std::getenv("PATH");
    std::string_view folders = variable == nullptr ? "/bin:/usr/bin" : variable;
    while (true) {
        const std::size_t end = std::min(folders.find(':'), folders.size());
        const std::string_view folder = folders.substr(0, end);  // an empty one is the current one
        if (can_be_executed(std::filesystem::path(folder.empty() ? "." : folder) / name)) return true;
        if (end == folders.size()) return false;
        folders.remove_prefix(end + 1);
    }
}

}  // namespace guide
