#include "common/grading/grading.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <stdexcept>

#include "common/grading/diagnostics.h"
#include "common/grading/failure.h"
#include "common/helpers/counts.h"
#include "common/helpers/instrument.h"

namespace grading {

namespace {

/// Red zones hold 0x7Fxx in every two bytes, with an xx of 0xF1 to 0xFC: NaN as well. The zones of two buffers differ,
/// so that an element copied from the one into the other shows.
constexpr unsigned char upper_zone_byte = 0x7F;
constexpr unsigned char lowest_zone_byte = 0xF1;
constexpr unsigned zone_patterns = 12;
std::atomic<unsigned> buffers{0};

/// In memory FD 7F FD 7F ...: a quiet NaN as half, bfloat16, float and double. Not 0xFF everywhere, so that it is told
/// from the NaN that other tools fill memory with.
constexpr std::array<unsigned char, 2> poison_bytes{0xFD, 0x7F};

/// The same as the double that it is.
constexpr double poison_as_double = std::bit_cast<double>(std::uint64_t{0x7FFD7FFD7FFD7FFD});

constexpr std::size_t ranges_shown = 3;

/// Red zones are whole multiples of this, so that the buffer between them is aligned as cudaMalloc's memory is.
constexpr std::size_t alignment = 256;

void require(cudaError_t status) {
    if (status == cudaSuccess) return;
    throw std::runtime_error("the device refuses to go on (" + text_of(status) +
                             "). After a kernel died this stays so until the program ends: look at the first failure.");
}

cudaError_t allocate(void** memory, std::size_t bytes) {
#ifdef __CPU_DEVICE__
    return cudaMalloc(memory, bytes, {});  // diagnostics are not to speak of this line
#else
    return cudaMalloc(memory, bytes);
#endif
}

struct Range {
    std::size_t first;
    std::size_t last;
};

/// Neighboring indices joined to ranges that do not cross the end of a row.
std::vector<Range> ranges_of(const std::vector<std::size_t>& indices, std::size_t row_length) {
    std::vector<Range> ranges;
    for (std::size_t index : indices) {
        const bool starts_row = row_length != 0 && index % row_length == 0;
        if (!ranges.empty() && !starts_row && ranges.back().last + 1 == index) {
            ranges.back().last = index;
        } else {
            ranges.push_back({index, index});
        }
    }
    return ranges;
}

std::string span(std::size_t first, std::size_t last) {
    return first == last ? std::to_string(first) : std::to_string(first) + " to " + std::to_string(last);
}

std::string name_element(std::size_t index, std::size_t row_length) { return name_elements({index}, row_length); }

constexpr const char* status_question = "Which call or launch of yours is the first one that returns this error?";

/// What to ask about the call that returned this error.
const char* question_about_call(cudaError_t status) {
    switch (status) {
        case cudaErrorMemoryAllocation:
            return "How many bytes does this call ask for, and how is that number computed?";
        case cudaErrorInvalidPitchValue:
            return "Which of the pitches in this call is less than the width of a row, both in bytes?";
        case cudaErrorInvalidMemcpyDirection:
            return "From which side to which does this call copy, and what does its last argument say?";
        case cudaErrorInvalidResourceHandle:
            return "Which stream or event does this call get? Was it created before, and not destroyed yet?";
        case cudaErrorInvalidSymbol:
            return "Which variable does this call get, and is it declared with __device__ or __constant__?";
        default:
            return "Which argument of this call is not what the function expects: a pointer, a size in bytes, or "
                   "another one?";
    }
}

constexpr const char* outside_question = "Which thread has such an index, and what keeps it from writing?";

}  // namespace

std::string text_of(cudaError_t status) {
    return std::string(cudaGetErrorName(status)) + ": " + cudaGetErrorString(status);
}

Outcome finish() {
    const cudaError_t launched = cudaGetLastError();
    const cudaError_t finished = cudaDeviceSynchronize();
    cudaGetLastError();  // a failed wait is remembered, too
    const bool may_be_refused = launched == cudaErrorInvalidValue || launched == cudaErrorInvalidConfiguration;
    const std::string last_refused = take_refused_launch();
    const std::string refused = may_be_refused ? last_refused : "";
    const std::string call = take_failed_call(launched);
    return {launched != cudaSuccess ? launched : finished, take_diagnostics(), refused, refused.empty() ? call : ""};
}

std::string Succeeds::question_for(const std::string& text) const {
    for (const auto& [texts, question] : questions_) {
        const bool has_all = std::all_of(texts.begin(), texts.end(),
                                         [&](const std::string& each) { return text.find(each) != std::string::npos; });
        if (has_all) return question;
    }
    return {};
}

bool Succeeds::match(cudaError_t status) const {
    if (status == cudaSuccess) return true;
    // Whatever was found by then tells more than the status does.
    const std::string diagnostics = take_diagnostics();
    const std::string first = diagnostics.substr(0, diagnostics.find("\n\n"));
    const std::string call = take_failed_call(status);
    const bool is_told = first.find(call.substr(0, call.find(' ') + 1)) != std::string::npos;
    more_ = (call.empty() || is_told ? "" : "\n" + call) + (diagnostics.empty() ? "" : "\n" + diagnostics);
    std::string question = question_for(text_of(status) + "\n" + call + "\n" + first);
    const bool has_hint = first.find("hint: ") != std::string::npos;
    if (question.empty() && !has_hint) question = call.empty() ? status_question : question_about_call(status);
    if (question.empty()) return false;
    more_ += "\n" + question;
    note_failed_match(FailedMatch{.judgement = {false, ""}, .hint = question, .place = {}, .call = {}});
    return false;
}

bool Succeeds::match(const Outcome& outcome) const {
    if (outcome.status == cudaSuccess && outcome.diagnostics.empty()) return true;
    const std::string first = outcome.diagnostics.substr(0, outcome.diagnostics.find("\n\n"));
    std::string question = question_for(first);
    if (question.empty() && first.empty() && !outcome.refused.empty()) {
        question = outcome.refused.ends_with("has no block") || outcome.refused.ends_with("has no thread")
                       ? "How many blocks, and of how many threads, does this launch have here? Does a division round "
                         "down to 0, or is there nothing to do?"
                       : "Which number of this launch is too large, and how is it computed?";
    }
    // Diagnostics of the CPU device come with a hint.
    if (question.empty() && first.empty()) {
        question = outcome.call.empty() ? status_question : question_about_call(outcome.status);
    }
    if (question.empty()) return false;
    more_ = "\n" + question;
    note_failed_match(FailedMatch{.judgement = {false, ""}, .hint = question, .place = {}, .call = {}});
    return false;
}

void forget_diagnostics() {
    take_diagnostics();
    take_failed_call(cudaSuccess);
}

std::string name_elements(const std::vector<std::size_t>& indices, std::size_t row_length) {
    const std::vector<Range> ranges = ranges_of(indices, row_length);
    std::string text;
    for (std::size_t i = 0; i < ranges.size(); ++i) {
        const auto [first, last] = ranges[i];
        if (row_length != 0) {
            const std::size_t row_start = first - first % row_length;
            text += (i == 0 ? "row " : "; row ") + std::to_string(first / row_length);
            text += (first == last ? ", column " : ", columns ") + span(first - row_start, last - row_start);
        } else if (i == 0) {
            text += (indices.size() == 1 ? "element " : "elements ") + span(first, last);
        } else {
            text += (i + 1 == ranges.size() ? " and " : ", ") + span(first, last);
        }
        if (i + 1 == ranges_shown && ranges.size() > ranges_shown) return text + (row_length != 0 ? "; ..." : ", ...");
    }
    return text;
}

std::string counted(const std::string& number, const std::string& noun) {
    if (number == "1") return "1 " + noun;
    const std::size_t end = std::min(noun.find(" of "), noun.size());
    const std::string head = noun.substr(0, end);
    return number + " " + head + (head.ends_with("ch") ? "es" : "s") + noun.substr(end);
}

std::string counted(double count, const std::string& noun) { return counted(warpwise::count_text(count), noun); }

GuardedMemory::GuardedMemory(std::size_t count, std::size_t element_bytes, std::size_t zone_elements)
    : count_(count),
      element_bytes_(element_bytes),
      zone_bytes_((zone_elements * element_bytes + alignment - 1) / alignment * alignment),
      zone_byte_(static_cast<unsigned char>(lowest_zone_byte + buffers++ % zone_patterns)) {
    if (warpwise::is_diagnosing()) {
        zone_bytes_ = 0;
        // Memory of no elements needs an address as well: the end of other memory.
        const std::size_t ahead = count == 0 ? alignment : 0;
        require(allocate(&allocation_, ahead + count * element_bytes));
        start_ = static_cast<unsigned char*>(allocation_) + ahead;
        poison();
        return;
    }
    const std::size_t bytes = zone_bytes_ + count_ * element_bytes_ + zone_bytes_;
    require(allocate(&allocation_, bytes));
    start_ = static_cast<unsigned char*>(allocation_) + zone_bytes_;
    std::vector<unsigned char> zones(bytes);
    for (std::size_t i = 0; i < bytes; ++i) zones[i] = zone_value(i);
    const cudaError_t filled = cudaMemcpy(allocation_, zones.data(), bytes, cudaMemcpyHostToDevice);
    if (filled != cudaSuccess) cudaFree(allocation_);
    require(filled);
    poison();
}

/// Of a byte so far after the start of the allocation. The pattern begins anew with the zone past the end.
unsigned char GuardedMemory::zone_value(std::size_t offset) const {
    const std::size_t end = zone_bytes_ + count_ * element_bytes_;
    const std::size_t in_zone = offset < zone_bytes_ ? offset : offset - end;
    return in_zone % 2 == 0 ? zone_byte_ : upper_zone_byte;
}

GuardedMemory::~GuardedMemory() { cudaFree(allocation_); }

void GuardedMemory::poison() {
    std::vector<unsigned char> bytes(count_ * element_bytes_);
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = poison_bytes[i % 2];
    copy_in(bytes.data());
}

void GuardedMemory::copy_in(const void* values) {
    if (count_ != 0) require(cudaMemcpy(start_, values, count_ * element_bytes_, cudaMemcpyHostToDevice));
}

void GuardedMemory::copy_out(void* values) const {
    if (count_ != 0) require(cudaMemcpy(values, start_, count_ * element_bytes_, cudaMemcpyDeviceToHost));
}

Judgement GuardedMemory::untouched_outside() const {
    if (zone_bytes_ == 0) return {true, "nothing written outside"};
    const std::size_t buffer_bytes = count_ * element_bytes_;
    std::vector<unsigned char> bytes(zone_bytes_ + buffer_bytes + zone_bytes_);
    require(cudaMemcpy(bytes.data(), allocation_, bytes.size(), cudaMemcpyDeviceToHost));

    std::vector<std::size_t> before;  // counted back from the start: 1 is the element just before it
    for (std::size_t at = zone_bytes_; at-- > 0;) {
        if (bytes[at] == zone_value(at)) continue;
        const std::size_t distance = (zone_bytes_ - at + element_bytes_ - 1) / element_bytes_;
        if (before.empty() || before.back() != distance) before.push_back(distance);
    }
    if (!before.empty()) {
        return {false,
                "the memory before the array was written, from element -" + std::to_string(before.back()) +
                    " to element -" + std::to_string(before.front()),
                nullptr, outside_question};
    }

    std::vector<std::size_t> behind;
    for (std::size_t at = zone_bytes_ + buffer_bytes; at < bytes.size(); ++at) {
        if (bytes[at] == zone_value(at)) continue;
        const std::size_t index = (at - zone_bytes_) / element_bytes_;
        if (behind.empty() || behind.back() != index) behind.push_back(index);
    }
    if (!behind.empty()) {
        const std::string last =
            count_ == 0 ? "that has no elements" : "whose last element is " + name_element(count_ - 1, row_length_);
        return {false, name_elements(behind, row_length_) + " written: past the end of an array " + last, nullptr,
                outside_question};
    }
    return {true, "nothing written outside"};
}

Judgement GuardedMemory::written_everywhere() const {
    std::vector<unsigned char> bytes(count_ * element_bytes_);
    copy_out(bytes.data());
    std::vector<std::size_t> unwritten;
    for (std::size_t i = 0; i < count_; ++i) {
        bool poisoned = true;
        for (std::size_t at = i * element_bytes_; at < (i + 1) * element_bytes_; ++at) {
            poisoned = poisoned && bytes[at] == poison_bytes[at % 2];
        }
        if (poisoned) unwritten.push_back(i);
    }
    if (unwritten.empty()) return {true, "every element written"};
    auto mismatch = std::make_shared<MismatchedArray>();
    mismatch->got.assign(count_, 0);
    mismatch->expected.assign(count_, 0);
    for (const std::size_t i : unwritten) mismatch->got[i] = poison_as_double;
    mismatch->wrong = unwritten;
    mismatch->row_length = row_length_;
    if (unwritten.size() == count_) {
        return {false, "none was ever written (all still hold the poison of the grader)", mismatch};
    }
    return {false,
            name_elements(unwritten, row_length_) + (unwritten.size() == 1 ? " was" : " were") +
                " never written (still the poison of the grader, " + std::to_string(unwritten.size()) + " of " +
                std::to_string(count_) + ")",
            mismatch};
}

std::string hint_for(const Judgement& judgement, const std::string& hint, const std::vector<Hint>& hints) {
    if (!judgement.mismatch || judgement.mismatch->wrong.empty()) return hint;
    for (const Hint& candidate : hints) {
        if (!candidate.cause(*judgement.mismatch)) continue;
        return hint.empty() ? candidate.text : hint + "\n" + candidate.text;
    }
    return hint;
}

void note_failed_match(const Judgement& judgement, const std::string& hint, const GuardedMemory* buffer) {
    const bool knows_element = buffer != nullptr && judgement.mismatch && !judgement.mismatch->wrong.empty();
    FailedMatch failed{.judgement = judgement, .hint = hint, .place = {}, .call = {}};
    if (knows_element) {
        const std::size_t first = judgement.mismatch->wrong.front();
        failed.place = place_of_element(*buffer, first);
        failed.has_writer = was_written_by_kernel(*buffer, first);
    }
    note_failed_match(std::move(failed));
}

Judgement judge_values(const std::vector<double>& got, const std::vector<double>& expected,
                       warpwise::Tolerance tolerance, std::size_t row_length) {
    const warpwise::Comparison comparison = warpwise::compare(got, expected, tolerance);
    if (comparison.passed) return {true, "all values right"};
    if (comparison.mismatches.empty()) return {false, comparison.note};

    // A line for each, because Catch2 wraps long lines in the middle of numbers.
    std::string text = std::to_string(comparison.mismatched) + " wrong";
    const std::size_t shown = std::min(ranges_shown, comparison.mismatches.size());
    for (std::size_t i = 0; i < shown; ++i) {
        const warpwise::Mismatch& mismatch = comparison.mismatches[i];
        text += "\n" + name_element(mismatch.index, row_length) + " is " + number_text(mismatch.got) + ", should be " +
                number_text(mismatch.expected);
    }
    if (shown < comparison.mismatched) text += "\nand " + std::to_string(comparison.mismatched - shown) + " more";
    const bool exact = tolerance.absolute == 0 && tolerance.relative == 0;
    if (!exact) {
        text += "\nlargest error " + number_text(comparison.largest_error) + ", allowed " +
                number_text(comparison.tolerance);
    }
    return {false, text, std::make_shared<MismatchedArray>(mismatch_of(got, expected, tolerance, row_length))};
}

Judgement judge_number(double got, double expected, warpwise::Tolerance tolerance) {
    const warpwise::Comparison comparison = warpwise::compare(std::vector<double>{got}, {expected}, tolerance);
    if (comparison.passed) return {true, "right"};
    std::string text = "is " + number_text(got) + ", should be " + number_text(expected);
    const bool exact = tolerance.absolute == 0 && tolerance.relative == 0;
    if (!exact)
        text +=
            " (error " + number_text(comparison.largest_error) + ", allowed " + number_text(comparison.tolerance) + ")";
    return {false, text, std::make_shared<MismatchedArray>(mismatch_of({got}, {expected}, tolerance, 0))};
}

}  // namespace grading
