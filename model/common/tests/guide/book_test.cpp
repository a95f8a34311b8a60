// What `warpwise docs` finds out before it starts Node.js.
#include "common/guide/book.h"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "common/lesson/refusal.h"

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using namespace guide;
namespace fs = std::filesystem;

namespace {

class Folder {
public:
    Folder() {
        std::string name = (fs::temp_directory_path() / "book_test_XXXXXX").string();
        path = mkdtemp(name.data());
    }
    ~Folder() { fs::remove_all(path); }
    fs::path path;
};

/// PATH for as long as it lives.
class Path {
public:
    explicit Path(const std::string& folders) : before_(std::getenv("PATH")) { setenv("PATH", folders.c_str(), 1); }
    ~Path() { setenv("PATH", before_.c_str(), 1); }

private:
    std::string before_;
};

void write(const fs::path& file, const std::string& text) {
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
}

void write_program(const fs::path& file, const std::string& script) {
    write(file, "#!/bin/sh\n" + script + "\n");
    fs::permissions(file, fs::perms::owner_all);
}

}  // namespace

TEST_CASE("the book: packages are fetched when there are none, and when others are wanted") {
    const Folder docs;
    const fs::path fetched = docs.path / "node_modules" / ".package-lock.json";
    const fs::path wanted = docs.path / "package-lock.json";
    write(wanted, "{}");
    CHECK_FALSE(has_book_packages(docs.path));
    write(fetched, "{}");
    fs::last_write_time(wanted, fs::last_write_time(fetched) - std::chrono::hours(1));
    CHECK(has_book_packages(docs.path));
    fs::last_write_time(wanted, fs::last_write_time(fetched) + std::chrono::hours(1));
    CHECK_FALSE(has_book_packages(docs.path));
}

TEST_CASE("the book: an old Node.js is named, a new one accepted") {
    CHECK(why_not_this_node("v18.20.4\n").empty());
    CHECK(why_not_this_node("v22.1.0\n").empty());
    CHECK_THAT(why_not_this_node("v12.22.12\n"), ContainsSubstring("v12.22.12"));
    CHECK_THAT(why_not_this_node(""), ContainsSubstring("unknown"));
}

TEST_CASE("the book: without Node.js the reader learns what is missing and what to read instead") {
    const Folder empty;
    const Path none(empty.path.string());
    CHECK_THROWS_MATCHES(show_book({.root = empty.path, .caller = empty.path}, {}, {}), Refusal,
                         MessageMatches(ContainsSubstring("no Node.js") && ContainsSubstring("apt-get install") &&
                                        ContainsSubstring("docs/README.md")));
}

TEST_CASE("the book: fetches once, builds, and says where the site is") {
    const Folder root;
    const fs::path docs = root.path / "docs";
    write(docs / "package-lock.json", "{}");
    write_program(root.path / "bin" / "node", "echo v20.0.0");
    write_program(
        root.path / "bin" / "npm",
        "echo \"$@\" >>../log\n[ \"$1\" != ci ] || { mkdir -p node_modules; : >node_modules/.package-lock.json; }\n"
        "[ ! -e ../broken ] || exit 3");
    const Path path((root.path / "bin").string() + ":/usr/bin:/bin");
    const Project project{.root = root.path, .caller = root.path};
    const auto log = [&] {
        std::ifstream stream(root.path / "log");
        return std::string(std::istreambuf_iterator<char>(stream), {});
    };
    CHECK(show_book(project, {.build_only = true}, {}) == 0);
    CHECK(log() == "ci\nrun --silent build\n");
    CHECK(show_book(project, {.port = 1234}, {}) == 0);
    CHECK(log() == "ci\nrun --silent build\nrun --silent build\nrun serve -- --port 1234\n");
    fs::remove(root.path / "log");
    CHECK(show_book(project, {.markdown = true, .folder = "book"}, {}) == 0);
    CHECK(log() == "run --silent markdown -- -o " + (root.path / "book").string() + "\n");
    CHECK(show_book(project, {.markdown = true}, {}) == 0);
    CHECK_THAT(log(), ContainsSubstring((root.path / "build" / "markdown").string() + "\n"));
    write(root.path / "broken", "");
    CHECK(show_book(project, {}, {}) == 3);
}
