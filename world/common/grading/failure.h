// What a learner reads about an answer that is not right yet: what is wrong, where, what that means here, and one
// question. At most about 12 lines; `--full` shows all that the matchers have to say, `--catch2` what Catch2 shows.
//
//     d_fahrenheit: 241 of 1009 elements were never written: elements 768 to 1008.
//       1009 elements in blocks of 256 threads
//
//       0 [.................................................________________] 1008
//         . right   _ never written   (16 elements per character, which shows the worst)
//
//       index_and_guard.cu:21: no thread of to_fahrenheit<<<3, 256>>> wrote element 768
//       Which thread should write element 768?
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "common/grading/grading.h"
#include "common/grading/mismatch.h"

namespace grading {

// ---- how wrong elements are shown ----------------------------------------------------------------------------------

enum class Tone { plain, bad, good, missing, question, faint };

/// A piece of a line in one color.
struct Span {
    std::string text;
    Tone tone = Tone::plain;
};
using Line = std::vector<Span>;

std::string text_of(const Line& line);

/// A row of the table of wrong elements, as it is shown: "(3, 17)", "never written", "-2.5".
struct ValueRow {
    std::string index;
    std::string got;
    std::string expected;
    bool operator==(const ValueRow&) const = default;
};

/// The first wrong elements, `most` of them at most.
std::vector<ValueRow> value_rows(const MismatchedArray& mismatch, std::size_t most);

/// Which parts of the array are right, wrong, or never written. An array is one line, a matrix a map of a few lines;
/// the last line says what the characters mean. Empty when a picture would say no more than a sentence or a table:
/// when everything is wrong in the same way, or when only few elements are.
std::vector<Line> picture_of(const MismatchedArray& mismatch);

/// "64 of 96 elements are wrong: elements 32 to 95", "none of the 256 elements was ever written".
/// `has_writer`: a kernel wrote the first wrong element, so poison in there was computed from other poison.
std::string sentence_about(const MismatchedArray& mismatch, bool has_writer = false);

/// The value is the poison of a Guarded buffer, bit for bit as far as conversions to double keep bits. So a NaN that a
/// kernel has computed is a wrong value, not a missing one.
bool is_never_written(double value);

/// "nan" without a sign, else as many digits as tell two floats apart.
std::string number_text(double value);

// ---- a failed assertion --------------------------------------------------------------------------------------------

/// What the matcher that failed last knows beyond its text. Matchers leave it for the reporter.
struct FailedMatch {
    Judgement judgement;
    std::string hint;
    std::string place;        ///< which thread wrote the first wrong element, and where; empty where nobody knows
    bool has_writer = false;  ///< that it was a thread of a kernel is known
    std::string call;         ///< of grading::instrument, where it is about kernels: "TITLE #2"
    bool names_its_subject = false;  ///< the text says what it is about: no name of a variable has to stand before it
};
void note_failed_match(FailedMatch failed);
std::optional<FailedMatch> take_failed_match();

/// Which thread of which kernel wrote the element last, by which line of source: known on the CPU device, of the last
/// `instrument`. Empty where it is not known.
std::string place_of_element(const GuardedMemory& buffer, std::size_t index);
/// Whether it is known that a kernel wrote it last.
bool was_written_by_kernel(const GuardedMemory& buffer, std::size_t index);

struct Failure {
    std::string test;                  ///< title of the test case
    std::vector<std::string> context;  ///< with which sizes and inputs
    std::string observation;           ///< what is wrong
    std::vector<std::string> details;  ///< lines that belong to it: of source, of a diagnostic
    std::vector<Line> picture;
    std::vector<ValueRow> values;
    std::string after_values;  ///< "and 61 more"
    std::string place;
    std::string question;           ///< or a hint, or one thing to try
    std::string assertion;          ///< the one that failed: "grid_stride_test.cpp:43"
    std::string call;               ///< see FailedMatch
    std::vector<std::string> full;  ///< all that there is to tell, in lines
};

/// Makes a failure of what Catch2 hands to a reporter. `subject` and `text` as `observation` (reporter.h) gives them,
/// `infos` the messages of INFO.
Failure make_failure(const std::string& subject, const std::string& text, const std::vector<std::string>& infos,
                     const std::optional<FailedMatch>& match);

/// The lines to show.
std::vector<Line> lines_of(const Failure& failure);

/// The first failure of this run, if any; the reporter sets it.
const std::optional<Failure>& first_failure();
void set_first_failure(Failure failure);

}  // namespace grading
