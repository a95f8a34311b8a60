#include "common/guide/file_watcher.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "common/guide/command.h"

using namespace guide;
namespace fs = std::filesystem;
using std::chrono::milliseconds;

namespace {

void pause(int duration) { std::this_thread::sleep_for(milliseconds(duration)); }

void write_file(const fs::path& file, const std::string& text) { std::ofstream(file) << text; }

/// A folder as exercises are in, and how it is watched: each test runs with inotify and without.
class Folder {
public:
    Folder() {
        std::string name = (fs::temp_directory_path() / "warpwise_watch_XXXXXX").string();
        top_ = fs::path(mkdtemp(name.data()));
        fs::create_directories(path());
        write_file(answer(), "one");
        write_file(path() / "README.md", "task");
        setenv("WARPWISE_WATCH", polls_ ? "poll" : "", 1);
    }
    ~Folder() {
        unsetenv("WARPWISE_WATCH");
        std::error_code error;
        fs::remove_all(top_, error);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    fs::path top() const { return top_; }
    fs::path chapter() const { return top_ / "exercises" / "1_basics"; }
    fs::path path() const { return chapter() / "grid_stride"; }
    fs::path answer() const { return path() / "grid_stride.cu"; }
    bool polls() const { return polls_; }

private:
    bool polls_ = GENERATE(false, true);
    fs::path top_;
};

/// Whether a change is seen in the next seconds, as watch mode waits for one.
bool sees_change(FileWatcher& watcher, int longest = 3000) {
    for (int waited = 0; waited < longest; waited += 20) {
        if (watcher.descriptor() == -1) {
            pause(20);
        } else {
            pollfd event{watcher.descriptor(), POLLIN, 0};
            poll(&event, 1, 20);
        }
        if (watcher.changed()) return true;
    }
    return false;
}

bool sees_nothing(FileWatcher& watcher) { return !sees_change(watcher, 150); }

/// One change, not two.
bool sees_one_change(FileWatcher& watcher) { return sees_change(watcher) && sees_nothing(watcher); }

}  // namespace

TEST_CASE("a watcher has a descriptor unless it polls") {
    const Folder folder;
    const FileWatcher watcher({folder.path()});
    CHECK((watcher.descriptor() == -1) == folder.polls());
}

TEST_CASE("nothing has changed at first") {
    const Folder folder;
    FileWatcher watcher({folder.path()});
    CHECK_FALSE(watcher.changed());
    CHECK(sees_nothing(watcher));
}

TEST_CASE("a file that is written has changed, each time") {
    const Folder folder;
    FileWatcher watcher({folder.path()});
    for (const std::string text : {"two", "six", "something longer", ""}) {
        CAPTURE(text);
        write_file(folder.answer(), text);
        CHECK(sees_one_change(watcher));
    }
}

TEST_CASE("a change of the same length right after another is seen") {
    const Folder folder;
    FileWatcher watcher({folder.path()});
    for (int i = 0; i < 5; ++i) {
        write_file(folder.answer(), "text " + std::to_string(i));
        CHECK(sees_change(watcher));
    }
}

TEST_CASE("a change of the same length and with the old time of writing is seen") {
    const Folder folder;
    const fs::file_time_type old = fs::last_write_time(folder.answer()) - std::chrono::hours(1);
    fs::last_write_time(folder.answer(), old);
    FileWatcher watcher({folder.path()});
    write_file(folder.answer(), "uno");
    fs::last_write_time(folder.answer(), old);
    CHECK(sees_one_change(watcher));
}

TEST_CASE("an editor that writes another file and renames it is followed") {
    const Folder folder;
    FileWatcher watcher({folder.path()});

    SECTION("renamed over the old one, again and again") {
        for (const std::string text : {"two", "three", "four"}) {
            write_file(folder.path() / ".grid_stride.cu.tmp", text);
            fs::rename(folder.path() / ".grid_stride.cu.tmp", folder.answer());
            CHECK(sees_one_change(watcher));
        }
    }
    SECTION("as vim does: the old one becomes the backup, and is removed") {
        for (const std::string text : {"two", "three"}) {
            write_file(folder.path() / "4913", "");
            fs::remove(folder.path() / "4913");
            fs::rename(folder.answer(), folder.path() / "grid_stride.cu~");
            pause(10);
            write_file(folder.answer(), text);
            fs::remove(folder.path() / "grid_stride.cu~");
            CHECK(sees_one_change(watcher));
        }
    }
    SECTION("as emacs does: with a link as a lock, and a file of changes that are not saved") {
        fs::create_symlink("reader.4711", folder.path() / ".#grid_stride.cu");
        write_file(folder.path() / "#grid_stride.cu#", "not saved");
        CHECK(sees_nothing(watcher));
        fs::rename(folder.answer(), folder.path() / "grid_stride.cu~");
        write_file(folder.answer(), "two");
        fs::remove(folder.path() / ".#grid_stride.cu");
        fs::remove(folder.path() / "#grid_stride.cu#");
        CHECK(sees_one_change(watcher));
    }
    SECTION("as VS Code does: emptied and written anew") {
        std::ofstream stream(folder.answer(), std::ios::trunc);
        pause(5);
        stream << "two" << std::flush;
        stream.close();
        CHECK(sees_one_change(watcher));
    }
}

namespace {

/// Empties a file and writes it in pieces, 20 ms apart. False when this computer was too busy for that.
bool write_slowly(const fs::path& file, const std::vector<std::string>& pieces) {
    auto longest = std::chrono::steady_clock::duration::zero();
    std::ofstream stream(file, std::ios::trunc);
    for (const std::string& piece : pieces) {
        const auto begin = std::chrono::steady_clock::now();
        pause(20);
        stream << piece << std::flush;
        longest = std::max(longest, std::chrono::steady_clock::now() - begin);
    }
    return longest < milliseconds(40);
}

}  // namespace

TEST_CASE("a file that is written in pieces has changed once") {
    const Folder folder;
    FileWatcher watcher({folder.path()});
    bool in_time = false;
    bool one_change = false;
    for (int attempt = 0; attempt < 20 && !in_time; ++attempt) {
        const std::string number = std::to_string(attempt);
        std::thread editor([&] {
            in_time = write_slowly(folder.answer(), {"one ", "piece ", "and another ", number});
        });
        one_change = sees_one_change(watcher);
        editor.join();
        watcher.changed();
    }
    REQUIRE(in_time);
    CHECK(one_change);
}

TEST_CASE("a file that is emptied and gets its old content back has not changed") {
    const Folder folder;
    FileWatcher watcher({folder.path()});
    bool in_time = false;
    bool nothing = false;
    for (int attempt = 0; attempt < 20 && !in_time; ++attempt) {
        std::thread editor([&] { in_time = write_slowly(folder.answer(), {"o", "ne"}); });
        nothing = sees_nothing(watcher);
        editor.join();
        watcher.changed();
    }
    REQUIRE(in_time);
    CHECK(nothing);
}

TEST_CASE("a save that changes nothing does not count") {
    const Folder folder;
    FileWatcher watcher({folder.path()});
    fs::last_write_time(folder.answer(), fs::file_time_type::clock::now());  // touch
    CHECK(sees_nothing(watcher));
    write_file(folder.answer(), "one");
    CHECK(sees_nothing(watcher));
    write_file(folder.path() / "new", "one");
    fs::rename(folder.path() / "new", folder.answer());
    CHECK(sees_nothing(watcher));
    fs::permissions(folder.answer(), fs::perms::owner_exec, fs::perm_options::add);
    CHECK(sees_nothing(watcher));
    write_file(folder.answer(), "two");
    CHECK(sees_one_change(watcher));
}

TEST_CASE("only sources in the folder itself are watched") {
    const Folder folder;
    fs::create_directory(folder.path() / "wrong_answers");
    FileWatcher watcher({folder.path()});
    write_file(folder.path() / "README.md", "another task");
    write_file(folder.path() / "hints.md", "hint");
    write_file(folder.path() / "grid_stride.cu.before_reset", "old");
    write_file(folder.path() / ".grid_stride.cu.swp", "swap");
    write_file(folder.path() / ".grid_stride.cu", "hidden");
    write_file(folder.path() / "cu", "no extension");
    write_file(folder.path() / "wrong_answers" / "off_by_one.cu", "wrong");
    write_file(folder.chapter() / "other.cu", "above");
    fs::create_directory(folder.path() / "folder.cu");
    REQUIRE(mkfifo((folder.path() / "pipe.cu").c_str(), 0600) == 0);
    CHECK(sees_nothing(watcher));
    for (const std::string name : {"new.cu", "new.cuh", "new.cpp", "new.h"}) {
        CAPTURE(name);
        write_file(folder.path() / name, "");
        CHECK(sees_one_change(watcher));
    }
}

TEST_CASE("files that appear, vanish or get another name have changed") {
    const Folder folder;
    FileWatcher watcher({folder.path()});
    write_file(folder.path() / "helper.cuh", "new");
    CHECK(sees_one_change(watcher));
    fs::rename(folder.path() / "helper.cuh", folder.path() / "helpers.cuh");
    CHECK(sees_one_change(watcher));
    fs::remove(folder.path() / "helpers.cuh");
    CHECK(sees_one_change(watcher));
    fs::rename(folder.answer(), folder.path() / "away.txt");
    CHECK(sees_one_change(watcher));
}

TEST_CASE("a file whose target of a link changes has changed") {
    const Folder folder;
    write_file(folder.top() / "first.txt", "first");
    write_file(folder.top() / "second.txt", "second");
    fs::create_symlink(folder.top() / "first.txt", folder.path() / "linked.cu");
    FileWatcher watcher({folder.path()});
    fs::create_symlink(folder.top() / "second.txt", folder.path() / "new_link");
    fs::rename(folder.path() / "new_link", folder.path() / "linked.cu");
    CHECK(sees_one_change(watcher));
}

TEST_CASE("a folder that is removed and made again is watched as before") {
    const Folder folder;
    FileWatcher watcher({folder.path()});

    SECTION("with other content at once, as git checkout does") {
        fs::remove_all(folder.path());
        fs::create_directory(folder.path());
        write_file(folder.answer(), "of another branch");
        CHECK(sees_one_change(watcher));
    }
    SECTION("with the same content at once") {
        fs::remove_all(folder.path());
        fs::create_directory(folder.path());
        write_file(folder.answer(), "one");
        CHECK(sees_nothing(watcher));
    }
    SECTION("later") {
        fs::remove_all(folder.path());
        CHECK(sees_one_change(watcher));
        fs::create_directory(folder.path());
        CHECK(sees_nothing(watcher));
        write_file(folder.answer(), "one");
        CHECK(sees_one_change(watcher));
    }
    SECTION("with all folders above it") {
        fs::remove_all(folder.top() / "exercises");
        CHECK(sees_one_change(watcher));
        fs::create_directories(folder.path());
        write_file(folder.answer(), "three");
        CHECK(sees_one_change(watcher));
    }
    SECTION("by moving it away and another one there") {
        fs::rename(folder.path(), folder.chapter() / "old");
        fs::create_directory(folder.path());
        write_file(folder.answer(), "two");
        CHECK(sees_one_change(watcher));
        write_file(folder.chapter() / "old" / "grid_stride.cu", "not watched any more");
        CHECK(sees_nothing(watcher));
    }
    SECTION("by moving a folder above it away and back") {
        fs::rename(folder.top() / "exercises", folder.top() / "away");
        CHECK(sees_one_change(watcher));
        write_file(folder.top() / "away" / "1_basics" / "grid_stride" / "grid_stride.cu", "two");
        CHECK(sees_nothing(watcher));
        fs::rename(folder.top() / "away", folder.top() / "exercises");
        CHECK(sees_one_change(watcher));
    }
    write_file(folder.answer(), "at last");
    CHECK(sees_one_change(watcher));
}

TEST_CASE("a folder that is not there yet can be watched") {
    const Folder folder;
    FileWatcher watcher({folder.top() / "later" / "still_later"});
    CHECK((watcher.descriptor() == -1) == folder.polls());
    CHECK(sees_nothing(watcher));
    fs::create_directories(folder.top() / "later" / "still_later");
    write_file(folder.top() / "later" / "still_later" / "new.cu", "new");
    CHECK(sees_one_change(watcher));
}

TEST_CASE("several folders are watched at once, one in the other too") {
    const Folder folder;
    fs::create_directory(folder.top() / "solutions");
    FileWatcher watcher({folder.path(), folder.chapter(), folder.top() / "solutions"});
    write_file(folder.answer(), "two");
    CHECK(sees_one_change(watcher));
    write_file(folder.chapter() / "common.h", "");
    CHECK(sees_one_change(watcher));
    write_file(folder.top() / "solutions" / "grid_stride.cu", "");
    CHECK(sees_one_change(watcher));
}

TEST_CASE("a folder may be given relative to the current one, and with a slash at its end") {
    const Folder folder;
    const fs::path before = fs::current_path();
    fs::current_path(folder.chapter());
    FileWatcher watcher({"./grid_stride/"});
    fs::current_path(before);
    write_file(folder.answer(), "two");
    CHECK(sees_one_change(watcher));
    fs::remove_all(folder.path());
    CHECK(sees_one_change(watcher));
}

TEST_CASE("a great many events are not too many") {
    const Folder folder;
    FileWatcher watcher({folder.path()});
    for (int i = 0; i < 30000; ++i) {  // more than inotify keeps, as a rule
        const fs::path file = folder.path() / (std::to_string(i % 2) + ".cuh");
        const int descriptor = open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        close(descriptor);
        unlink(file.c_str());
    }
    write_file(folder.answer(), "two");
    CHECK(sees_one_change(watcher));
    write_file(folder.answer(), "three");
    CHECK(sees_one_change(watcher));
}

TEST_CASE("a file that is written all the time does not hang the watcher") {
    const Folder folder;
    FileWatcher watcher({folder.path()});
    std::atomic<bool> stop = false;
    std::atomic<int> written = 0;
    std::thread writer([&] {
        while (!stop) {
            write_file(folder.path() / "generated.h", std::to_string(written));
            ++written;
            pause(5);
        }
    });
    while (written < 3) pause(1);
    CHECK(sees_change(watcher));  // while the file is still being written
    stop = true;
    writer.join();
}

TEST_CASE("git checkout of another branch and back is two changes") {
    if (!has_program("git")) SKIP("there is no git here");
    const Folder folder;
    const auto git = [&](std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), {"git", "-c", "user.name=reader", "-c", "user.email=reader"});
        return run_command(arguments, {.folder = folder.top(), .variables = {{"GIT_CONFIG_GLOBAL", "/dev/null"}}})
            .status;
    };
    REQUIRE(git({"init", "--quiet", "--initial-branch=first", "."}) == 0);
    REQUIRE(git({"add", "."}) == 0);
    REQUIRE(git({"commit", "--quiet", "-m", "first"}) == 0);
    REQUIRE(git({"checkout", "--quiet", "-b", "without"}) == 0);
    REQUIRE(git({"rm", "--quiet", "-r", "exercises"}) == 0);
    REQUIRE(git({"commit", "--quiet", "-m", "without"}) == 0);
    REQUIRE(git({"checkout", "--quiet", "first"}) == 0);
    REQUIRE(fs::exists(folder.answer()));

    FileWatcher watcher({folder.path()});
    REQUIRE(git({"checkout", "--quiet", "without"}) == 0);
    CHECK(sees_one_change(watcher));
    REQUIRE(git({"checkout", "--quiet", "first"}) == 0);
    CHECK(sees_one_change(watcher));
    write_file(folder.answer(), "two");
    CHECK(sees_one_change(watcher));
}
