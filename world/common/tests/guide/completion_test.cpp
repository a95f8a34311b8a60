#include <unistd.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "common/guide/command.h"
#include "common/guide/completion.h"
#include "common/lesson/refusal.h"

using namespace guide;
using Catch::Matchers::ContainsSubstring;
namespace fs = std::filesystem;

namespace {

using Words = std::vector<std::string>;

const Catalog& catalog() {
    static const Catalog one = Catalog::from_json(R"({"warpwise_catalog": 1, "chapters": [
        {"folder": "1_basics_and_pi", "program": "basics_and_pi", "lessons": ["vector_add", "matrix_add", "pi"],
         "exercises": [{"name": "grid_stride", "kind": "fill"}, {"name": "block_sum", "kind": "fix"}]},
        {"folder": "2_memory", "program": "memory", "lessons": ["transpose"], "exercises": []}]})",
                                                  "/nowhere");
    return one;
}

const std::vector<OptionWords>& global_options() {
    static const std::vector<OptionWords> options = {{{"--device"}, "where", true, Wants::device},
                                                     {{"--no-color"}, "plain"}};
    return options;
}

const std::vector<CommandWords>& commands() {
    static const std::vector<CommandWords> words = {
        {"list", "what there is", {{{"--json"}, "for programs"}}, Wants::catalog_word},
        {"run", "a chapter", {}, Wants::chapter_or_lesson},
        {"grade", "grade", {{{"--json"}, "for programs"}}, Wants::exercise_or_all},
        {"hint", "help", {{{"--level"}, "which", true, Wants::hint_level}}, Wants::exercise},
        {"completion", "a script", {}, Wants::shell},
        {"try", "a program", {{{"-o", "--output"}, "to", true, Wants::file}}, Wants::file},
    };
    return words;
}

Words offered(const Words& words, const Catalog* known = &catalog()) {
    Words result;
    for (const Candidate& candidate : complete(words, commands(), global_options(), known)) {
        result.push_back(candidate.word);
    }
    return result;
}

void write_program(const fs::path& file, const std::string& text) {
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
    fs::permissions(file, fs::perms::owner_all);
}

/// A copy whose guide prints what it was asked, in a temporary folder.
class Copy {
public:
    Copy() {
        std::string name = (fs::temp_directory_path() / "completion_test_XXXXXX").string();
        root = mkdtemp(name.data());
        write_program(root / "warpwise", "#!/bin/sh\necho the script must not be asked; exit 1\n");
        write_program(root / "build/bin/cpu/guide",
                      "#!/bin/sh\nfor word in \"$@\"; do printf '[%s]' \"$word\"; done >\"$WARPWISE_ROOT/asked\"\n"
                      "printf 'grid_stride\\tfill: any number\\nblock_sum\\tfix\\n'\n");
    }
    ~Copy() { fs::remove_all(root); }
    Copy(const Copy&) = delete;
    Copy& operator=(const Copy&) = delete;

    std::string asked() const {
        std::ifstream stream(root / "asked");
        std::string text;
        std::getline(stream, text);
        return text;
    }

    fs::path root;
};

}  // namespace

TEST_CASE("completion offers commands, also before anything was typed") {
    CHECK(offered({""}) == Words{"list", "run", "grade", "hint", "completion", "try"});
    CHECK(offered({}) == offered({""}));
    CHECK(offered({"c"}) == Words{"completion"});
    CHECK(offered({"x"}).empty());
}

TEST_CASE("completion offers what the command's argument can be") {
    CHECK(offered({"grade", ""}) == Words{"all", "grid_stride", "block_sum"});
    CHECK(offered({"hint", "b"}) == Words{"block_sum"});
    CHECK(offered({"run", ""}) ==
          Words{"1", "basics_and_pi", "2", "memory", "vector_add", "matrix_add", "pi", "transpose"});
    CHECK(offered({"list", "p"}) == Words{"pi"});
    CHECK(offered({"completion", "z"}) == Words{"zsh"});
    CHECK(offered({"try", ""}).empty());  // the shell offers files
}

TEST_CASE("completion offers nothing more after the one argument") {
    CHECK(offered({"hint", "grid_stride", ""}).empty());
    CHECK(offered({"completion", "zsh", ""}).empty());
}

TEST_CASE("completion of lessons follows the chapter, however it was named") {
    CHECK(offered({"run", "1", ""}) == Words{"vector_add", "matrix_add", "pi"});
    CHECK(offered({"run", "basics", "pi", "m"}) == Words{"matrix_add"});
    CHECK(offered({"run", "2_memory", ""}) == Words{"transpose"});
    CHECK(offered({"run", "vector_add", "m"}) == Words{"matrix_add"});
    CHECK(offered({"run", "9", ""}).empty());
}

TEST_CASE("completion understands shortened commands and does not guess at unclear ones") {
    CHECK(offered({"gr", "gr"}) == Words{"grid_stride"});
    CHECK(offered({"", "gr"}).empty());
    CHECK(offered({"frob", "gr"}).empty());
}

TEST_CASE("completion offers a command's options and those of all") {
    CHECK(offered({"grade", "-"}) == Words{"--json", "--device", "--no-color"});
    CHECK(offered({"--d"}) == Words{"--device"});
    CHECK(offered({"try", "--out"}) == Words{"--output"});
    const Words of_chapter = offered({"run", "1", "--"});
    for (const char* option : {"--size", "--lines", "--json", "--device"}) {
        INFO(option);
        CHECK(std::find(of_chapter.begin(), of_chapter.end(), option) != of_chapter.end());
    }
}

TEST_CASE("completion offers values of options, in one word or two") {
    CHECK(offered({"hint", "--level", ""}) == Words{"1", "2", "3"});
    CHECK(offered({"--device", "cu"}) == Words{"cuda"});
    CHECK(offered({"--device=cu"}) == Words{"cuda"});
    CHECK(offered({"--device", "=", "c"}) == Words{"cpu", "cuda"});  // as bash splits it
    CHECK(offered({"--device", "="}) == Words{"auto", "cpu", "cuda"});
    CHECK(offered({"try", "-o", ""}).empty());
}

TEST_CASE("completion does not take the value of an option for the argument") {
    CHECK(offered({"--device", "cpu", "grade", "g"}) == Words{"grid_stride"});
    CHECK(offered({"hint", "--level", "2", "g"}) == Words{"grid_stride"});
    CHECK(offered({"run", "1", "--size", "16", "p"}) == Words{"pi"});
    CHECK(offered({"run", "--device=cpu", "1", "p"}) == Words{"pi"});
}

TEST_CASE("completion leaves what follows two dashes to the other program") {
    CHECK(offered({"grade", "grid_stride", "--", ""}).empty());
    CHECK(offered({"grade", "--", "-"}).empty());
}

TEST_CASE("completion works without a catalog as far as it can") {
    CHECK(offered({"grade", ""}, nullptr) == Words{"all"});
    CHECK(offered({"run", "1", ""}, nullptr).empty());
    CHECK(offered({"li"}, nullptr) == Words{"list"});
}

TEST_CASE("a candidate's help stands after a tab") {
    CHECK(candidate_lines({{"grid_stride", "fill"}, {"pi", ""}}) == "grid_stride\tfill\npi\t\n");
}

TEST_CASE("there is a completion for bash, zsh and fish, and for no other shell") {
    for (const char* shell : {"bash", "zsh", "fish"}) CHECK_FALSE(completion_script(shell).empty());
    CHECK_THROWS_AS(completion_script("tcsh"), Refusal);
    CHECK_THROWS_WITH(completion_script(""), ContainsSubstring("bash, zsh and fish"));
}

TEST_CASE("the shells can read their scripts") {
    const Copy copy;
    for (const char* shell : {"bash", "zsh", "fish"}) {
        if (!has_program(shell)) continue;
        INFO(shell);
        std::ofstream(copy.root / shell) << completion_script(shell);
        const CommandResult read = run_command({shell, "-n", (copy.root / shell).string()}, {.limit_seconds = 20});
        CHECK(read.status == 0);
        CHECK(read.output.empty());
    }
}

TEST_CASE("bash completes ./warpwise, warpwise in PATH, and a link to it") {
    if (!has_program("bash")) SKIP("no bash here");
    const Copy copy;
    std::ofstream(copy.root / "script") << completion_script("bash");
    fs::create_directories(copy.root / "elsewhere");
    fs::create_symlink(copy.root / "warpwise", copy.root / "elsewhere/warpwise");
    const auto completed = [&](const std::string& typed, const std::string& path) {
        const std::string lines =
            "source ./script; cd " + path + "; COMP_WORDS=(" + typed +
            " grade \"\"); COMP_CWORD=2; _warpwise; printf '<%s>' \"${COMPREPLY[@]}\"; complete -p " + typed;
        return run_command({"bash", "-c", lines},
                           {.folder = copy.root,
                            .variables = {{"PATH", (copy.root / "elsewhere").string() + ":/usr/bin:/bin"}},
                            .limit_seconds = 20});
    };
    for (const auto& [typed, folder] :
         {std::pair("./warpwise", "."), std::pair("warpwise", "/"), std::pair("./warpwise", "elsewhere")}) {
        INFO(typed << " in " << folder);
        fs::remove(copy.root / "asked");
        const CommandResult result = completed(typed, folder);
        CHECK(result.status == 0);
        CHECK_THAT(result.output, ContainsSubstring("<grid_stride><block_sum>"));
        CHECK_THAT(result.output, ContainsSubstring("-F _warpwise"));
        CHECK(copy.asked() == "[complete][--][grade][]");
    }
}

TEST_CASE("bash offers nothing, and says nothing, where no guide is built") {
    if (!has_program("bash")) SKIP("no bash here");
    const Copy copy;
    fs::remove_all(copy.root / "build");
    std::ofstream(copy.root / "script") << completion_script("bash");
    const CommandResult result = run_command(
        {"bash", "-c", "source ./script; COMP_WORDS=(./warpwise ch); COMP_CWORD=1; _warpwise; echo ${#COMPREPLY[@]}"},
        {.folder = copy.root, .limit_seconds = 20});
    CHECK(result.output == "0\n");
}

TEST_CASE("fish completes with the help of each word") {
    if (!has_program("fish")) SKIP("no fish here");
    const Copy copy;
    std::ofstream(copy.root / "script") << completion_script("fish");
    const CommandResult result =
        run_command({"fish", "--no-config", "-c", "source ./script; complete -C './warpwise grade '"},
                    {.folder = copy.root, .limit_seconds = 20});
    CHECK_THAT(result.output, ContainsSubstring("grid_stride\tfill: any number"));
}
