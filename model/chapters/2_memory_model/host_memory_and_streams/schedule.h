// When streams copy in, compute, and copy out their chunks: as the rules have it, and drawn
// with letters.
//
//     const std::size_t streams = 4;
//     const std::vector<Chunk> chunks = planned(streams, 8, {1.0, 0.75, 1.0});
//     end_of(chunks);             // in the same unit of time
//     bars(chunks, streams, 16);  // one row per stream, 16 characters per unit of time
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

namespace memory_model {
namespace {

constexpr std::size_t kMostStreams = 8;
constexpr int kParts = 3;  // copy in, compute, copy out
constexpr std::array<char, kParts> kSymbols = {'>', '#', '<'};

struct Span {
    double begin, end;
};
struct Chunk {
    std::size_t stream;
    std::array<Span, kParts> parts;
};

// The rules: each engine does one thing at a time, in the order in which the work was
// queued, and a stream keeps its order. Nothing else makes anything wait. (On a chip,
// copies in both directions share the bus, and each is a little slower while the other
// runs.) `whole`: how long each part takes for the whole array.
std::vector<Chunk> planned(std::size_t streams, std::size_t chunks,
                           const std::array<double, kParts>& whole) {
    std::array<double, kParts> engine_is_free = {};
    std::array<double, kMostStreams> stream_is_free = {};
    std::vector<Chunk> result;
    for (std::size_t k = 0; k < chunks; ++k) {
        Chunk chunk = {.stream = k % streams, .parts = {}};
        for (std::size_t part = 0; part < kParts; ++part) {
            const double begin =
                std::max(engine_is_free[part], stream_is_free[chunk.stream]);
            const double end = begin + whole[part] / static_cast<double>(chunks);
            chunk.parts[part] = {begin, end};
            engine_is_free[part] = stream_is_free[chunk.stream] = end;
        }
        result.push_back(chunk);
    }
    return result;
}

double end_of(const std::vector<Chunk>& chunks) {
    return chunks.empty() ? 0 : chunks.back().parts.back().end;
}

// The time that cannot be undercut: the longest part alone.
double ideal(const std::array<double, kParts>& whole) {
    return *std::max_element(whole.begin(), whole.end());
}

// One row per stream; `columns_per_time` characters are one unit of time. Where there is
// room, the second character of a bar is the last digit of the chunk's number.
std::string bars(const std::vector<Chunk>& chunks, std::size_t streams,
                 double columns_per_time) {
    const auto column = [=](double time) {
        return static_cast<std::size_t>(std::lround(time * columns_per_time));
    };
    std::size_t width = 1;
    for (const Chunk& chunk : chunks)
        width = std::max(width, column(chunk.parts.back().end));
    std::vector<std::string> rows(streams, std::string(width, '.'));
    for (std::size_t k = 0; k < chunks.size(); ++k) {
        for (std::size_t part = 0; part < kParts; ++part) {
            const std::size_t begin = column(chunks[k].parts[part].begin),
                              end = column(chunks[k].parts[part].end);
            std::string& row = rows[chunks[k].stream];
            for (std::size_t i = begin; i < end; ++i) row[i] = kSymbols[part];
            if (end > begin + 1) row[begin + 1] = static_cast<char>('0' + k % 10);
        }
    }
    std::string text =
        "    " + std::to_string(streams) + (streams == 1 ? " stream\n" : " streams\n");
    for (std::size_t s = 0; s < streams; ++s)
        text += "      " + std::to_string(s) + "  " + rows[s] + "\n";
    return text;
}

}  // namespace
}  // namespace memory_model
