// Records the changes at the outputs of pulse cores, Shuttlers and Songbirds, in the format of docs/interfaces.md section 6.
#pragma once

#include <sys/mman.h>

#include <cstdint>
#include <cstring>

// Append-only sequence of 64-bit words, up to 1 GiB, contiguous. Address space is reserved at once and memory committed on
// demand, so recorded words are never moved. If the reservation fails, there is room for none.
class Words {
  public:
    Words() {
        void *place = mmap(nullptr, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (place == MAP_FAILED) return;
        words_ = static_cast<uint64_t *>(place);
        room_ = BYTES / sizeof *words_;
        madvise(place, BYTES, MADV_HUGEPAGE);  // optional: only affects speed
    }
    Words(const Words &) = delete;
    ~Words() {
        if (words_) munmap(words_, BYTES);
    }

    size_t size() const { return size_; }
    size_t room() const { return room_ - size_; }
    const uint64_t *data() const { return words_; }
    void push_back(uint64_t word) { words_[size_++] = word; }

  private:
    static constexpr size_t BYTES = size_t(1) << 30;
    uint64_t *words_ = nullptr;
    size_t size_ = 0, room_ = 0;
};

template <int OUTPUTS> class Recorder {
  public:
    // For each change of an output: cycle << 16 | output << 12 | mask of the changed fields, then these fields.
    Words words;
    // False if there was no room for all words.
    bool complete = true;

    // Records a cycle. `fields`: the fields of all outputs.
    void see(uint64_t cycle, const void *fields) {
        if (std::memcmp(last, fields, sizeof last) == 0) return;
        uint64_t now[OUTPUTS][FIELDS];
        std::memcpy(now, fields, sizeof now);
        if (words.room() < OUTPUTS * (FIELDS + 1)) {
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
    uint64_t last[OUTPUTS][FIELDS] = {};
};
