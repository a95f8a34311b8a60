#include "common/guide/project.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>

#include "common/lesson/refusal.h"

using namespace guide;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
namespace fs = std::filesystem;

namespace {

class TemporaryFolder {
public:
    TemporaryFolder() {
        std::string name = (fs::temp_directory_path() / "project_test_XXXXXX").string();
        path_ = fs::canonical(::mkdtemp(name.data()));
        fs::permissions(path_, fs::perms::all);
    }
    ~TemporaryFolder() { fs::remove_all(path_); }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    const fs::path& path() const { return path_; }

    fs::path file(const std::string& name, const std::string& text) const {
        fs::create_directories((path_ / name).parent_path());
        std::ofstream(path_ / name) << text;
        return path_ / name;
    }
    std::size_t entries() const {
        return static_cast<std::size_t>(std::distance(fs::directory_iterator(path_), fs::directory_iterator()));
    }

private:
    fs::path path_;
};

/// The environment and the current folder as they were, at the end of a test.
class Surroundings {
public:
    Surroundings() : folder_(fs::current_path()) {
        for (const char* name : {"WARPWISE_ROOT", "WARPWISE_CALLER", "WARPWISE_DEVICE"}) ::unsetenv(name);
    }
    ~Surroundings() {
        fs::current_path(folder_);
        for (const char* name : {"WARPWISE_ROOT", "WARPWISE_CALLER", "WARPWISE_DEVICE"}) ::unsetenv(name);
    }
    Surroundings(const Surroundings&) = delete;
    Surroundings& operator=(const Surroundings&) = delete;

private:
    fs::path folder_;
};

void set(const char* name, const std::string& value) { ::setenv(name, value.c_str(), 1); }

/// What is refused to someone who is not root; empty when nothing is.
std::string refused_to_others(const std::function<void()>& action) {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        std::string text;
        if (::geteuid() == 0 && (::setegid(65534) != 0 || ::seteuid(65534) != 0)) text = "could not become nobody";
        try {
            action();
        } catch (const Refusal& refusal) {
            text = refusal.what();
        } catch (const std::exception& error) {
            text = std::string("not a refusal: ") + error.what();
        }
        const bool sent = ::write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size());
        ::_exit(sent ? 0 : 1);
    }
    ::close(ends[1]);
    std::string text;
    char piece[4096];
    for (ssize_t count; (count = ::read(ends[0], piece, sizeof piece)) > 0;) {
        text.append(piece, static_cast<std::size_t>(count));
    }
    ::close(ends[0]);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(status == 0);
    return text;
}

}  // namespace

TEST_CASE("the copy is the nearest folder above that holds the script", "[guide]") {
    const Surroundings surroundings;
    const TemporaryFolder folder;
    folder.file("warpwise", "#!/usr/bin/env bash\n");
    folder.file("build/bin/cpu/warpwise", "\177ELF, a program of the same name");
    folder.file("warpwise_too/warpwise/notes.txt", "a folder of the same name");

    fs::current_path(folder.path());
    CHECK(Project::find().root == folder.path());
    CHECK(Project::find().typed == "./warpwise");
    CHECK(Project::find().device == "cpu");

    fs::current_path(folder.path() / "build/bin/cpu");
    CHECK(Project::find().root == folder.path());
    CHECK(Project::find().caller == folder.path() / "build/bin/cpu");
    CHECK(Project::find().typed == "../../../warpwise");

    fs::current_path(folder.path() / "warpwise_too");
    CHECK(Project::find().root == folder.path());
}

TEST_CASE("where there is no copy, the refusal names the folder and says what to do", "[guide]") {
    const Surroundings surroundings;
    const TemporaryFolder folder;
    fs::current_path(folder.path());
    CHECK_THROWS_MATCHES(Project::find(), Refusal, MessageMatches(ContainsSubstring(folder.path().string())));
    CHECK_THROWS_MATCHES(Project::find(), Refusal, MessageMatches(ContainsSubstring("./warpwise")));

    fs::create_directory(folder.path() / "gone");
    fs::current_path(folder.path() / "gone");
    fs::remove(folder.path() / "gone");
    CHECK_THROWS_AS(Project::find(), Refusal);
}

TEST_CASE("the script's variables say where the copy is, where the reader is, and which device", "[guide]") {
    const Surroundings surroundings;
    const TemporaryFolder folder;
    folder.file("my copy/warpwise", "#!/bin/sh\n");
    const fs::path root = folder.path() / "my copy";
    set("WARPWISE_ROOT", root.string() + "/");
    set("WARPWISE_CALLER", folder.path().string());
    set("WARPWISE_DEVICE", "cuda");

    const Project project = Project::find();
    CHECK(project.root == root);
    CHECK(project.caller == folder.path());
    CHECK(project.device == "cuda");
    CHECK(project.typed == "\"" + root.string() + "/warpwise\"");  // from outside, as a shell takes it
    CHECK(project.build_folder() == root / "build/cuda");
    CHECK(project.programs() == root / "build/bin/cuda");
    CHECK(project.results() == root / "build/results/cuda");
    CHECK(project.progress_file() == root / ".warpwise.json");

    set("WARPWISE_DEVICE", "gpu");
    CHECK_THROWS_MATCHES(Project::find(), Refusal, MessageMatches(ContainsSubstring("cpu or cuda")));
    set("WARPWISE_DEVICE", "");
    CHECK(Project::find().device == "cpu");
    set("WARPWISE_ROOT", (folder.path() / "moved").string());
    CHECK_THROWS_MATCHES(Project::find(), Refusal, MessageMatches(ContainsSubstring("WARPWISE_ROOT")));
}

TEST_CASE("paths are shown relative to the copy when they lie in it", "[guide]") {
    const TemporaryFolder folder;
    folder.file("copy/exercises/a.cu", "");
    fs::create_directory_symlink(folder.path() / "copy", folder.path() / "link");
    Project project;
    project.root = folder.path() / "copy";
    CHECK(project.shown(folder.path() / "copy/exercises/a.cu") == "exercises/a.cu");
    CHECK(project.shown(folder.path() / "copy/chapters/../exercises/./a.cu") == "exercises/a.cu");
    CHECK(project.shown(folder.path() / "link/exercises/a.cu") == "exercises/a.cu");
    CHECK(project.shown(folder.path() / "copy/exercises/") == "exercises");
    CHECK(project.shown(folder.path() / "copy/") == ".");
    CHECK(project.shown("./exercises/a.cu") == "exercises/a.cu");
    CHECK(project.shown(folder.path() / "copy_2/a.cu") == (folder.path() / "copy_2/a.cu").string());
    CHECK(project.shown("/") == "/");
    project.root = "/";
    CHECK(project.shown("/etc/passwd") == "etc/passwd");
}

TEST_CASE("a file that is missing is not the same as one that cannot be read", "[guide]") {
    const TemporaryFolder folder;
    CHECK(read_file(folder.path() / "missing") == std::nullopt);
    CHECK(read_file(folder.path() / "missing/too") == std::nullopt);
    CHECK(read_file(folder.file("empty", "")) == "");
    std::string large(300000, 'x');
    large[150000] = '\0';
    CHECK(read_file(folder.file("large", large)) == large);
    CHECK_THROWS_MATCHES(read_file(folder.path()), Refusal, MessageMatches(ContainsSubstring("it is a folder")));

    REQUIRE(::mkfifo((folder.path() / "pipe").c_str(), 0600) == 0);
    CHECK_THROWS_MATCHES(read_file(folder.path() / "pipe"), Refusal,
                         MessageMatches(ContainsSubstring("not a regular file")));

    const fs::path secret = folder.file("secret", "x");
    fs::permissions(secret, fs::perms::none);
    const std::string refused = refused_to_others([&] { read_file(secret); });
    CHECK_THAT(refused, ContainsSubstring("cannot read " + secret.string()) && ContainsSubstring("chmod u+r"));
    fs::permissions(secret, fs::perms::owner_all);
}

TEST_CASE("replacing a file keeps its permissions and leaves nothing else behind", "[guide]") {
    const TemporaryFolder folder;
    const fs::path file = folder.file("a.txt", "old");
    fs::permissions(file, fs::perms(0640));
    replace_file(file, "new");
    CHECK(read_file(file) == "new");
    CHECK(fs::status(file).permissions() == fs::perms(0640));
    CHECK(folder.entries() == 1);

    const mode_t mask = ::umask(027);
    replace_file(folder.path() / "b.txt", "");
    ::umask(mask);
    CHECK(read_file(folder.path() / "b.txt") == "");
    CHECK(fs::status(folder.path() / "b.txt").permissions() == fs::perms(0640));
}

TEST_CASE("whoever has the old file open goes on reading the old one", "[guide]") {
    const TemporaryFolder folder;
    const fs::path file = folder.file("a.txt", "old");
    std::ifstream reader(file);
    replace_file(file, "new");
    std::string text;
    reader >> text;
    CHECK(text == "old");
}

TEST_CASE("writing through a symbolic link leaves the link", "[guide]") {
    const TemporaryFolder folder;
    const fs::path file = folder.file("real/a.txt", "old");
    fs::create_symlink("real/a.txt", folder.path() / "link");
    fs::create_symlink(folder.path() / "link", folder.path() / "link_to_link");
    replace_file(folder.path() / "link_to_link", "new");
    CHECK(read_file(file) == "new");
    CHECK(fs::is_symlink(folder.path() / "link"));
    CHECK(fs::is_symlink(folder.path() / "link_to_link"));

    fs::create_symlink("real/b.txt", folder.path() / "dangling");
    replace_file(folder.path() / "dangling", "made");
    CHECK(fs::is_symlink(folder.path() / "dangling"));
    CHECK(read_file(folder.path() / "real/b.txt") == "made");

    fs::create_symlink("round", folder.path() / "and_round");
    fs::create_symlink("and_round", folder.path() / "round");
    CHECK_THROWS_MATCHES(replace_file(folder.path() / "round", "x"), Refusal,
                         MessageMatches(ContainsSubstring("leads back to itself")));
    CHECK_THROWS_AS(read_file(folder.path() / "round"), Refusal);
}

TEST_CASE("what cannot be written is refused by name, and stays as it was", "[guide]") {
    const TemporaryFolder folder;
    CHECK_THROWS_MATCHES(replace_file(folder.path(), "x"), Refusal,
                         MessageMatches(ContainsSubstring("it is a folder")));
    CHECK_THROWS_MATCHES(replace_file(folder.path() / "no/where", "x"), Refusal,
                         MessageMatches(ContainsSubstring((folder.path() / "no").string())));

    // Rename alone would get around this.
    const fs::path file = folder.file("a.txt", "old");
    fs::permissions(file, fs::perms(0444));
    const std::string read_only = refused_to_others([&] { replace_file(file, "new"); });
    CHECK_THAT(read_only, ContainsSubstring("cannot write " + file.string()) && ContainsSubstring("chmod u+w"));
    CHECK(read_file(file) == "old");

    fs::permissions(file, fs::perms(0666));
    fs::permissions(folder.path(), fs::perms(0555));
    const std::string closed_folder = refused_to_others([&] { replace_file(file, "new"); });
    fs::permissions(folder.path(), fs::perms::all);
    CHECK_THAT(closed_folder, ContainsSubstring("cannot write " + file.string()) &&
                                  ContainsSubstring("chmod u+w " + folder.path().string()));
    CHECK(read_file(file) == "old");
    CHECK(folder.entries() == 1);
}
