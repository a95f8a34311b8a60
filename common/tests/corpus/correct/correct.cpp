#include "common/tests/corpus/corpus.h"

namespace corpus {

CaseList separate_writes();
CaseList barriers();
CaseList warps();
CaseList atomic_updates();
CaseList between_blocks();
CaseList groups();
CaseList shared_layouts();
CaseList host_and_memory();
CaseList language();
CaseList algorithms();

std::vector<CaseList> correct() {
    return {separate_writes(), barriers(),       warps(),           atomic_updates(), between_blocks(),
            groups(),          shared_layouts(), host_and_memory(), language(),       algorithms()};
}

}  // namespace corpus
