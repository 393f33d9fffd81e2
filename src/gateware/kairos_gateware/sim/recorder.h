// Records what the outputs of pulse cores show, change by change: docs/interfaces.md section 6 has the format.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

template <int OUTPUTS> class Recorder {
  public:
    // For each cycle in which an output changes: cycle << 16 | output << 12 | mask of its fields, then these fields.
    std::vector<uint64_t> words;
    // False: there was no room for all.
    bool complete = true;

    // `fields`: those of all outputs, in this cycle.
    void see(uint64_t cycle, const void *fields) {
        if (std::memcmp(last, fields, sizeof last) == 0) return;
        uint64_t now[OUTPUTS][FIELDS];
        std::memcpy(now, fields, sizeof now);
        if (words.size() + OUTPUTS * (FIELDS + 1) > MOST) {
            complete = false;
            return;
        }
        for (int output = 0; output < OUTPUTS; output++) {
            uint64_t mask = 0;
            for (int n = 0; n < FIELDS; n++) mask |= uint64_t(now[output][n] != last[output][n]) << n;
            if (!mask) continue;
            words.push_back(cycle << 16 | uint64_t(output) << 12 | mask);
            for (int n = 0; n < FIELDS; n++)
                if (mask >> n & 1) words.push_back(now[output][n]);
        }
        std::memcpy(last, now, sizeof last);
    }

  private:
    static_assert(OUTPUTS <= 16, "more outputs than the format has numbers for");
    static constexpr int FIELDS = 12;
    static constexpr size_t MOST = size_t(1) << 27;  // 1 GiB
    uint64_t last[OUTPUTS][FIELDS] = {};
};
