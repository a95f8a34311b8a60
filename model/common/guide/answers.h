// The learner's answers: a folder of their own below answers/, which git ignores, and the stubs in exercises/.
//
//     prepare_answer(exercise);                       // answers/1_basics_and_pi/grid_stride/grid_stride.cu is there
//     now const Answer answer = answer_to(exercise);      // answer.file is what is built and graded
//
// The file in answers/ counts as the answer. The stub in exercises/ counts instead when it was edited in place and
// saved after the file in answers/, or when the file in answers/ is still as it was handed out. What was handed out is
// the stub's text in git's last commit; without git, the text from which the file in answers/ was made. Beside that
// file,
// `.handed_out` keeps this text.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/guide/catalog.h"

namespace guide {

struct Answer {
    std::filesystem::path file;  ///< absolute
    bool in_place = false;       ///< it is the stub in exercises/
    std::string program;         ///< of its grader; with "_cpu" or "_cuda" behind it, also the CMake target
};

/// Makes the file in answers/ from the stub, with whatever the stub holds, unless the file is there. A file that nobody
/// has edited follows a stub that was handed out anew (git pull). Throws Refusal when something cannot be written.
void prepare_answer(const Exercise& exercise);
void prepare_answers(const Catalog& catalog);

/// The file that counts, by the rule above. Throws Refusal when one of the files cannot be read.
Answer answer_to(const Exercise& exercise);

/// Whether the answer differs from what was handed out. False when there is no answer: nothing is lost then. Throws
/// Refusal when one of the files cannot be read.
bool is_edited(const Exercise& exercise);

/// What was handed out. Throws Refusal when nobody knows.
std::string handed_out_to(const Exercise& exercise);

/// Puts back what was handed out: the file in answers/, and the stub where it was edited in place. What was there is
/// kept beside each as NAME.cu.before_reset (earlier ones as .1, .2 ...); returns where it is kept, the answer first;
/// empty when nothing had been changed. Files keep their permissions. Throws Refusal when nobody knows what was handed
/// out, or the files cannot be written.
std::vector<std::filesystem::path> reset(const Exercise& exercise);

}  // namespace guide
