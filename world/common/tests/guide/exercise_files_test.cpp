#include "common/guide/exercise_files.h"

#include <unistd.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "common/guide/project.h"
#include "common/lesson/refusal.h"

using namespace guide;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
namespace fs = std::filesystem;

namespace {

/// An exercise in a folder of its own.
class Place {
public:
    Place() {
        std::string name = (fs::temp_directory_path() / "exercise_files_test_XXXXXX").string();
        root = fs::canonical(::mkdtemp(name.data()));
        exercise.name = "grid";
        exercise.chapter = "1_basics";
        exercise.folder = root / "exercises/1_basics/grid";
        exercise.answers = root / "answers/1_basics/grid";
        exercise.solution = root / "solutions/1_basics/grid/grid.cu";
        fs::create_directories(exercise.folder);
        fs::create_directories(exercise.answers);
        fs::create_directories(exercise.solution.parent_path());
    }
    ~Place() { fs::remove_all(root); }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    static void write(const fs::path& file, const std::string& text) { std::ofstream(file) << text; }

    fs::path root;
    Exercise exercise;
};

std::string plain(const std::string& markdown, std::size_t width = 60) { return plain_text(markdown, width); }

}  // namespace

TEST_CASE("hints come in order, without their headings", "[guide]") {
    const Place place;
    Place::write(place.exercise.hints(), R"(# Hints for grid

Read one at a time.

## Hint 1

With `gridDim.x`:

    0 1 2

## Hint 2: the loop
### Not a hint
```
## Hint 9 of a comment in code
```

## Hint 3

## More

Not a hint.
)");
    const std::vector<std::string> hints = hints_of(place.exercise);
    REQUIRE(hints.size() == 2);  // the third says nothing
    CHECK(hints[0] == "With `gridDim.x`:\n\n    0 1 2\n");
    CHECK(hints[1] == "### Not a hint\n```\n## Hint 9 of a comment in code\n```\n");
}

TEST_CASE("hints may be missing or have another system's line ends", "[guide]") {
    const Place place;
    CHECK(hints_of(place.exercise).empty());
    Place::write(place.exercise.hints(), "## Hint 1\r\n\r\none\r\n\r\n## Hint 2\r\ntwo");
    CHECK(hints_of(place.exercise) == std::vector<std::string>{"one\n", "two\n"});
    fs::remove(place.exercise.hints());
    fs::create_directory(place.exercise.hints());
    CHECK_THROWS_AS(hints_of(place.exercise), Refusal);
}

TEST_CASE("headings lose their marks", "[guide]") {
    CHECK(plain("# One\n## `two` and **three** ##\ntext\n\nFour\n====\nfive\n\n#hashtag") ==
          "One\n`two` and three\ntext\n\nFour\n\nfive\n\n#hashtag\n");
}

TEST_CASE("paragraphs are wrapped anew, and blank lines between them kept as one", "[guide]") {
    CHECK(plain("\n\none two\nthree four five\n\n\n\nsix", 20) == "one two three four\nfive\n\nsix\n");
    CHECK(plain("with a break  \nhere and\\\nthere") == "with a break\nhere and\nthere\n");
    CHECK(plain("").empty());
    CHECK(plain("\n \n\t\n").empty());
    CHECK(plain("a\r\nb\r\n") == "a b\n");
}

TEST_CASE("emphasis loses its marks, other asterisks and underscores stay", "[guide]") {
    CHECK(plain("**Do** it *now*, _really_, ***all*** of (*it*).") == "Do it now, really, all of (it).\n");
    CHECK(plain("at most 4 * 2^-24, a*b*c and 2 * 3 * 4") == "at most 4 * 2^-24, a*b*c and 2 * 3 * 4\n");
    CHECK(plain("call __syncthreads() in a __global__ void f_(float *p, _x)") ==
          "call __syncthreads() in a __global__ void f_(float *p, _x)\n");
    CHECK(plain("`*p` and `__shared__ int a` and `a_b` with *`code` inside*") ==
          "`*p` and `__shared__ int a` and `a_b` with `code` inside\n");
    CHECK(plain("**over two\nlines** and **left open") == "over two lines and **left open\n");
    CHECK(plain("\\*not emphasis\\* and \\`no code\\`") == "*not emphasis* and `no code`\n");
    CHECK(plain("*a **b** c*") == "a b c\n");
    CHECK(plain("*one _two* three_") == "one _two three_\n");
}

TEST_CASE("links become their text, and the address where it says more", "[guide]") {
    CHECK(plain("Edit [grid.cu](grid.cu) or [`grid.cu`](grid.cu).") == "Edit grid.cu or `grid.cu`.\n");
    CHECK(plain("[grid.cu](../x/grid.cu#L3) [above](#top) [x](docs/x/)") == "grid.cu above x\n");
    CHECK(plain("[the solution](../s/grid.cu)") == "the solution (../s/grid.cu)\n");
    CHECK(plain("[the *guide*](https://a.b/c_(d) \"a title\")!") == "the guide (https://a.b/c_(d))!\n");
    CHECK(plain("<https://a.b/c_d_e> and [https://a.b](https://a.b)") == "https://a.b/c_d_e and https://a.b\n");
    CHECK(plain("![a picture](picture.png)") == "a picture\n");
    CHECK(plain("a[i](x and b[j], `[c](d)`, a[k] (l)") == "a[i](x and b[j], `[c](d)`, a[k] (l)\n");
    CHECK(plain("f<<<1, 2>>>(a) if i < n > 0") == "f<<<1, 2>>>(a) if i < n > 0\n");
    CHECK(plain("[over two\nlines](there)") == "over two lines (there)\n");
}

TEST_CASE("lists are indented and wrapped under their text", "[guide]") {
    CHECK(plain("**Do**\n1. TODO 1: compute the index that\n   belongs to it.\n2. TODO 2: more of it", 30) ==
          "Do\n"
          "  1. TODO 1: compute the index\n"
          "     that belongs to it.\n"
          "  2. TODO 2: more of it\n");
    CHECK(plain("* one\n+ two\n- three\ngoes on") == "  - one\n  - two\n  - three goes on\n");
    CHECK(plain("- outer\n  - inner\n    still inner\n  - second\n\n  outer again\n\nafter") ==
          "  - outer\n      - inner still inner\n      - second\n\n    outer again\n\nafter\n");
    CHECK(plain("- code:\n\n      int i;\n\n- ```\n  int  j;\n  ```") ==
          "  - code:\n\n        int i;\n\n  -     int  j;\n");
    CHECK(plain("10. ten\n11) eleven\n-\n- ") == "  10. ten\n  11) eleven\n  -\n  -\n");
}

TEST_CASE("a number or a hyphen that begins a line of a paragraph does not make a list of it", "[guide]") {
    CHECK(plain("It moves in steps of\n8. That is\n-1 or\n-x.") == "It moves in steps of 8. That is -1 or -x.\n");
}

TEST_CASE("code keeps its spaces, line breaks and marks", "[guide]") {
    CHECK(plain("Check\n\n    cmake --build   x && *y*\n\n      z\n\nDone") ==
          "Check\n\n    cmake --build   x && *y*\n\n      z\n\nDone\n");
    CHECK(plain("```cpp\nint  i;\n\n  // *a* [b](c)\n# no heading\n```\nafter") ==
          "    int  i;\n\n      // *a* [b](c)\n    # no heading\nafter\n");
    CHECK(plain("~~~~\n~~~\n```\n~~~~~\nafter") == "    ~~~\n    ```\nafter\n");
    CHECK(plain("```\nnever closed") == "    never closed\n");
    CHECK(plain("\tint i;") == "    int i;\n");
    CHECK(plain("```one line``` of code") == "```one line``` of code\n");
    CHECK(plain("`` a`b `` and ` open") == "`` a`b `` and ` open\n");
}

TEST_CASE("short pieces of code are not broken over two lines, long ones are", "[guide]") {
    CHECK(plain("one two three `a + b` and", 20) == "one two three\n`a + b` and\n");
    CHECK(plain("one `const int i = blockIdx.x * blockDim.x;`", 26) ==
          "one `const int i =\nblockIdx.x * blockDim.x;`\n");
}

TEST_CASE("tables and rules are kept as they are, quotes are wrapped behind their mark", "[guide]") {
    const std::string table = "| a | **b** |\n|---|:--|\n| a very long cell that is not wrapped | `c` |\n";
    CHECK(plain("Before\n" + table + "\nafter", 20) == "Before\n" + table + "\nafter\n");
    CHECK(plain("a\n\n---\n\n* * *") == "a\n\n---\n\n* * *\n");
    CHECK(plain("> one *two* three\n> four\n>\n> - five", 22) == "> one two three four\n>\n>   - five\n");
}

TEST_CASE("no line of prose is longer than the width", "[guide]") {
    const std::size_t width = GENERATE(40, 72, 100);
    std::string markdown;
    for (int i = 0; i < 200; ++i) markdown += i % 17 == 0 ? "\n\n- item **of**\n" : "word [a](b) `c d`\n";
    const std::string text = plain(markdown, width);
    std::size_t longest = 0;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = text.find('\n', begin);
        longest = std::max(longest, end - begin);
        begin = end + 1;
    }
    CHECK(longest <= width);
    CHECK(longest + 12 > width);
}

TEST_CASE("whatever the text is, its words are shown", "[guide]") {
    std::mt19937 random(1);
    // Only addresses and what follows the beginning of a fence may be left out.
    const std::vector<std::string> pieces = {"*",  "_", "`", "\n", "\n\n", "    ", " ", "[", "]",  "a", "> ",  "- ",
                                             "1.", "|", "#", "\\", "!",    "<",    ">", "=", "\t", "(", "```", "~~~"};
    const auto from = [&](std::size_t count) {
        std::string markdown;
        for (int i = 0; i < 40; ++i) markdown += pieces[random() % count];
        return markdown;
    };
    for (int round = 0; round < 3000; ++round) {
        const std::string words = from(pieces.size() - 3);
        INFO(words);
        const std::string text = plain(words, random() % 100);
        REQUIRE((text.empty() || text.back() == '\n'));
        REQUIRE(text.find('\1') == std::string::npos);
        if (words.find("```") != std::string::npos) continue;  // some may come together
        REQUIRE(std::count(words.begin(), words.end(), 'a') == std::count(text.begin(), text.end(), 'a'));
    }
    for (int round = 0; round < 3000; ++round) {
        const std::string text = plain(from(pieces.size()), random() % 100);
        REQUIRE((text.empty() || text.back() == '\n'));
    }
    CHECK_THAT(plain(std::string(200, '>') + "a"), ContainsSubstring("> a"));
    CHECK_THAT(plain(std::string(10000, '[') + "a"), ContainsSubstring("[a"));
}

TEST_CASE("the solution is shown, or refused by name", "[guide]") {
    const Place place;
    CHECK_THROWS_MATCHES(solution_text(place.exercise), Refusal,
                         MessageMatches(ContainsSubstring(place.exercise.solution.string())));
    Place::write(place.exercise.solution, "int i;\n");
    CHECK(solution_text(place.exercise) == "int i;\n");
}

TEST_CASE("shows the differences of two files, under short names", "[guide]") {
    const Place place;
    Place::write(place.exercise.own_answer(), "same\nmine");
    Place::write(place.exercise.solution, "same\ntheirs\n");
    CHECK(difference(place.exercise.own_answer(), place.exercise.own_answer()).empty());
    CHECK(difference(place.exercise.own_answer(), place.exercise.solution) ==
          "--- answers/1_basics/grid/grid.cu\n"
          "+++ solutions/1_basics/grid/grid.cu\n"
          "@@ -1,2 +1,2 @@\n same\n-mine\n\\ No newline at end of file\n+theirs\n");
    Place::write(place.exercise.stub(), "same\n");
    CHECK_THAT(difference(place.exercise.stub(), place.exercise.own_answer()),
               ContainsSubstring("--- exercises/1_basics/grid/grid.cu\n+++ answers/1_basics/grid/grid.cu\n"));
    Place::write(place.exercise.folder / "beside.cu", "other\n");
    CHECK_THAT(difference(place.exercise.folder / "beside.cu", place.exercise.stub()),
               ContainsSubstring("--- beside.cu\n+++ grid.cu\n"));
    CHECK_THROWS_MATCHES(difference(place.exercise.stub(), place.root / "gone.cu"), Refusal,
                         MessageMatches(ContainsSubstring("gone.cu")));
    // Not text, and a name that looks like an option.
    Place::write(place.root / "-x", std::string("\0\1", 2) + "\n");
    CHECK_THAT(difference(place.exercise.stub(), place.root / "-x"), ContainsSubstring("-same"));
}

TEST_CASE("without diff, the package to install is named", "[guide]") {
    const Place place;
    Place::write(place.exercise.own_answer(), "a");
    Place::write(place.exercise.stub(), "b");
    const std::string path = std::getenv("PATH");
    ::setenv("PATH", place.root.c_str(), 1);
    CHECK_THROWS_MATCHES(difference(place.exercise.stub(), place.exercise.own_answer()), Refusal,
                         MessageMatches(ContainsSubstring("diffutils")));
    ::setenv("PATH", path.c_str(), 1);
}
