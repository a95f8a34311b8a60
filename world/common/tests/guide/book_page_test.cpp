// Pages of the book as `warpwise docs PAGE` shows them.
#include "common/guide/book_page.h"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cctype>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "common/lesson/refusal.h"

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using Catch::Matchers::StartsWith;
using namespace guide;
namespace fs = std::filesystem;

namespace {

/// The root of a project with one page, "threads".
class Book {
public:
    explicit Book(const std::string& page) {
        std::string name = (fs::temp_directory_path() / "book_page_test_XXXXXX").string();
        root = mkdtemp(name.data());
        write("docs/threads.md", page);
    }
    ~Book() { fs::remove_all(root); }
    void write(const std::string& file, const std::string& text) const {
        fs::create_directories((root / file).parent_path());
        std::ofstream(root / file) << text;
    }
    std::vector<PagePart> parts() const { return page_parts(root, "threads", {}); }
    std::string text() const {
        std::string all;
        for (const PagePart& part : parts()) all += part.text;
        return all;
    }
    fs::path root;
};

}  // namespace

TEST_CASE("page: a page is found by its name, in the book's folders, too") {
    const Book book("# Threads\n");
    book.write("docs/1_basics/first.md", "# First\n");
    book.write("docs/zh/second.md", "# Second\n");
    CHECK(page_parts(book.root, "first", {}).at(0).text == "First\n\n");
    CHECK(page_parts(book.root, "docs/threads.md", {}).at(0).text == "Threads\n\n");
    CHECK_THROWS_MATCHES(page_parts(book.root, "thread", {}), warpwise::Refusal,
                         MessageMatches(ContainsSubstring("did you mean threads?")));
    CHECK_THROWS_AS(page_parts(book.root, "second", {}), warpwise::Refusal);
}

TEST_CASE("page: what is for the site is left out or made readable") {
    const Book book(
        "---\ntitle: For the site\n---\n# Threads\n\nIt moves <Measured source=\"a\">139.8</Measured> GiB, and $2 "
        "\\cdot "
        "16$ more. `$HOME` and `<Tag>` stay.\n\n$$\\text{all} = n$$\n");
    CHECK(book.text() == "Threads\n\nIt moves 139.8 GiB, and 2 · 16 more. `$HOME` and `<Tag>` stay.\n\nall = n\n\n");
}

TEST_CASE("page: the answer to a question is a part of its own") {
    const Book book(
        "Before.\n\n::: predict\nHow "
        "many?\n\n<details>\n<summary>Answer</summary>\n\nFour.\n\n</details>\n:::\n\nAfter.\n");
    const std::vector<PagePart> parts = book.parts();
    REQUIRE(parts.size() == 3);
    CHECK(parts[0].text == "Before.\n\nPredict first\n\nHow many?\n\n");
    CHECK_FALSE(parts[0].is_answer);
    CHECK(parts[1].text == "Answer:\n\nFour.\n\n");
    CHECK(parts[1].is_answer);
    CHECK(parts[2].text == "After.\n\n");
    CHECK_FALSE(parts[2].is_answer);
}

TEST_CASE("page: a table in an item of a list is laid out like any other") {
    const std::string table = "| kernel | bytes |\n|---|---|\n| `one` | 4 |\n";
    std::string indented = "   " + table;
    for (std::size_t at = 0; (at = indented.find("\n|", at)) != indented.npos;) indented.insert(at + 1, "   ");
    const Book alone("Before.\n\n" + table),
        in_answer("1. Before.\n\n   <details>\n   <summary>Answer</summary>\n\n" + indented + "\n   </details>\n");
    const std::string laid_out = alone.text().substr(alone.text().find("kernel"));
    CHECK_THAT(laid_out, !ContainsSubstring("|"));
    CHECK_THAT(in_answer.text(), ContainsSubstring(laid_out));
    // A drawing in a block of code is none.
    const std::string drawing = "    | a |\n    | b |\n";
    CHECK_THAT(Book("Before.\n\n" + drawing).text(), ContainsSubstring(drawing));
}

TEST_CASE("page: what is folded for other reasons is no answer") {
    const Book book(
        "Before.\n\n<details>\n<summary>How <code>it</code> was tested</summary>\n\nTwice.\n\n</details>\n\nAfter.\n");
    for (const PagePart& part : book.parts()) CHECK_FALSE(part.is_answer);
    CHECK(book.text() == "Before.\n\nHow `it` was tested:\n\nTwice.\n\nAfter.\n\n");
}

TEST_CASE("page: a view says where it is to be seen, whatever stands between its quotes") {
    const Book book("Before.\n\n<WarpView src=\"a\" line=\"word >> shift\" />\n\nAfter.\n");
    CHECK(book.text() ==
          "Before.\n\n(In the browser, `./warpwise docs`, an interactive view stands here.)\n\nAfter.\n\n");
}

TEST_CASE("page: a member of a class is shown without the rest of it") {
    const Book book("```code\nchapters/kernels.cuh: Roots::copy_in\n```\n");
    book.write(
        "chapters/kernels.cuh",
        "struct Roots {\n    int n;\n\n    // To the device.\n    void copy_in(int part) {\n        if (part) {\n"
        "#if 1\n            n = 1;\n#endif\n        }\n    }\n\n    void other() { copy_in(1); }\n};\n");
    CHECK(book.text() ==
          "    // To the device.\n    void copy_in(int part) {\n        if (part) {\n    #if 1\n            n = 1;\n"
          "    #endif\n        }\n    }\n\n    (chapters/kernels.cuh: Roots::copy_in)\n\n");
}

TEST_CASE("page: bars and drawings of recorded lessons are shown") {
    const fs::path root = WARPWISE_SOURCE;
    const Book book(
        "```bars\nh200_chapter_1 vector_add\n```\n\n```results\nh200_chapter_2 host_memory_and_streams "
        "timeline\n```\n");
    for (const char* run : {"docs/results/h200_chapter_1.json", "docs/results/h200_chapter_2.json"}) {
        std::ifstream in(root / run);
        std::ostringstream text;
        text << in.rdbuf();
        book.write(run, text.str());
    }
    CHECK_THAT(book.text(), ContainsSubstring("add_float4") && ContainsSubstring("########") &&
                                ContainsSubstring("(recorded on ") && !ContainsSubstring("(recorded results"));
}

TEST_CASE("page: a table has columns, whatever stands in its cells") {
    const Book book("| a | b |\n|---|---|\n| `x \\| y` | **two** |\n| 1 | [link](there.md) |\n");
    CHECK_THAT(book.text(), StartsWith("a        b"));
    CHECK_THAT(book.text(), ContainsSubstring("`x | y`  two"));
}

TEST_CASE("page: code comes from the source, with the comment above it") {
    const Book book(
        "```code bare\nchapters/kernels.cuh: twice\n```\n\n```change\nchapters/kernels.cuh: twice -> thrice\n```\n");
    book.write(
        "chapters/kernels.cuh",
        "// Calls twice().\nvoid caller() {\n    twice();\n}\n\n// Doubles.\ntemplate <class T>\nvoid twice(T* x) {\n"
        "    if (x) {\n        *x *= 2;\n    }\n}\n\nvoid thrice(int* x) { *x *= 3; }\n\nint last;\n");
    CHECK(book.text() ==
          "    template <class T>\n    void twice(T* x) {\n        if (x) {\n            *x *= 2;\n   "
          "     "
          "}\n    }\n\n    (chapters/kernels.cuh: twice)\n\n    void thrice(int* x) { *x *= 3; }\n\n    "
          "(chapters/kernels.cuh: twice -> thrice)\n\n");
    const Book other("```code\nchapters/kernels.cuh: twice\n```\n");
    CHECK(other.text() == "    (chapters/kernels.cuh: twice)\n\n");
}

TEST_CASE("page: a table that was not recorded is named") {
    const Book book("```results\nh200_chapter_1 first\n```\n");
    CHECK(book.text() == "    (recorded results, h200_chapter_1 first: there is no such run)\n\n");
}

TEST_CASE("page: the pages of the path are shown in full") {
    const fs::path root = WARPWISE_SOURCE;
    for (const std::string name : {"thread_hierarchy", "how_to_read_the_tables", "execution_model", "gpu_architecture",
                                   "profiling", "debugging", "programming_patterns", "start_here", "first_program"}) {
        INFO(name);
        std::string text;
        for (const PagePart& part : page_parts(root, name, {})) text += part.text;
        for (const char* mark : {"```", "<details>", "<summary>", ":::", "</", "(recorded results", "$$"})
            CHECK_THAT(text, !ContainsSubstring(mark));
    }
    std::string tables;
    for (const PagePart& part : page_parts(root, "how_to_read_the_tables", {})) tables += part.text;
    CHECK_THAT(tables, ContainsSubstring("add_float4"));       // of vector_add, on a GPU
    CHECK_THAT(tables, ContainsSubstring("add_x_down_rows"));  // of matrix_add, on the CPU device
    CHECK_THAT(tables, ContainsSubstring("32 of 4"));
    std::string patterns;
    for (const PagePart& part : page_parts(root, "programming_patterns", {})) patterns += part.text;
    CHECK_THAT(patterns, ContainsSubstring("    __global__ void add_grid_stride("));
}

TEST_CASE("page: formulas are written as in a terminal") {
    const Book book(
        "$$\\pi = \\int_0^1 \\frac{4}{1+x^2}\\,dx$$ and $\\tfrac12$, $4\\frac78$, $\\lceil 70/48 \\rceil$, $a \\bmod "
        "b$, "
        "$\\frac{20}{36}$, $x_{i}$, $2^{n-1}$, $\\max(a, b)$\n");
    CHECK(book.text() ==
          "π = ∫_0^1 4 / (1+x^2) dx and 1/2, 4 7/8, ⌈ 70/48 ⌉, a mod b, 20/36, x_i,\n2^(n-1), max(a, b)\n\n");
}

TEST_CASE("page: a definition is found by its type, over two lines, and ends at its semicolon") {
    const Book book(
        "```code\nchapters/kernels.cuh: kTile\n```\n\n```code\nchapters/kernels.cuh: bounded\n```\n\n"
        "```change\nchapters/kernels.cuh: bounded -> chapters/other.cuh: sum\n```\n");
    book.write("chapters/kernels.cuh",
               "const char* text = R\"(Which is\nfaster, bounded (step 2) or kTile = 32?)\";\n\n"
               "constexpr int kTile = 32;  // of a side\n\n__global__ void __launch_bounds__(64)\n"
               "    bounded(float* x) {\n    *x = 1;\n}\n");
    book.write("chapters/other.cuh", "// Adds.\nfloat sum(float a) { return a; }\n");
    CHECK(book.text() ==
          "    constexpr int kTile = 32;  // of a side\n\n    (chapters/kernels.cuh: kTile)\n\n"
          "    __global__ void __launch_bounds__(64)\n        bounded(float* x) {\n        *x = 1;\n    }\n\n"
          "    (chapters/kernels.cuh: bounded)\n\n    // Adds.\n    float sum(float a) { return a; }\n\n"
          "    (chapters/kernels.cuh: bounded -> chapters/other.cuh: sum)\n\n");
}

TEST_CASE("page: the pages of the lessons have their code, and no command of a formula") {
    const fs::path root = WARPWISE_SOURCE;
    std::size_t pages = 0, listings = 0;
    for (const fs::directory_entry& chapter : fs::directory_iterator(root / "docs")) {
        if (std::isdigit(static_cast<unsigned char>(chapter.path().filename().string()[0])) == 0) continue;
        for (const fs::directory_entry& page : fs::directory_iterator(chapter)) {
            if (page.path().extension() != ".md") continue;
            ++pages;
            INFO(page.path().stem().string());
            std::string before;
            for (const PagePart& part : page_parts(root, page.path().stem().string(), {})) {
                std::istringstream in(part.text);
                for (std::string line; std::getline(in, line);) {
                    CHECK(line.find("(recorded results") == line.npos);
                    CHECK(line.find("/>") == line.npos);
                    if (line.starts_with("    (chapters/")) {
                        INFO(line);
                        ++listings;
                        CHECK(before.starts_with("    "));
                        CHECK_FALSE(before.starts_with("    (chapters/"));
                    } else if (!line.starts_with("    ") && line.find('`') == line.npos) {
                        INFO(line);
                        CHECK(line.find("\\f") == line.npos);
                        CHECK(line.find("\\b") == line.npos);
                        CHECK(line.find("\\l") == line.npos);
                    }
                    if (!line.empty()) before = line;
                }
            }
        }
    }
    CHECK(pages >= 37);
    CHECK(listings > 100);
}
