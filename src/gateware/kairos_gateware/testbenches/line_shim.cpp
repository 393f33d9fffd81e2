// Two verilated endpoints and the line between them (line.py): it carries words with delay,
// drift, bit errors, bursts, drops and unplugging, all derived from the seed.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>

#include "Vline_bench.h"
#include "clocked.h"
#include "verilated.h"

namespace {

// S. Vigna, https://prng.di.unimi.it/splitmix64.c (public domain algorithm)
struct Random {
    uint64_t state;
    uint64_t bits() {
        uint64_t z = state += 0x9e3779b97f4a7c15;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        return z ^ (z >> 31);
    }
    uint64_t below(uint64_t limit) { return bits() % limit; }
    // Number of steps until an event with this probability per step.
    uint64_t wait(double rate) {
        if (rate <= 0) return UINT64_MAX;
        return uint64_t(std::min(0x1p62, std::log((double(bits() >> 11) + 1) * 0x1p-53) / std::log1p(-rate)));
    }
};

struct Parameters {
    uint64_t seed, delay, drift, drift_period;
    double bit_errors, bursts;
    uint64_t burst_bits;
    double drops, unplugs;
    uint64_t unplugged, pause_every;
};

// Whether the cable is plugged in, for both directions.
struct Plug {
    const Parameters &p;
    Random random{p.seed};
    uint64_t next = random.wait(p.unplugs), until = 0, count = 0;
    bool in(uint64_t now) {
        if (now >= next) {
            count++;
            until = now + p.unplugged;
            next = until + random.wait(p.unplugs);
        }
        return now >= until;
    }
};

struct Direction {
    struct Word {
        uint64_t word, at;
    };
    const Parameters &p;
    Random random;
    std::deque<Word> under_way;
    uint64_t error_in = random.wait(p.bit_errors), burst_in = random.wait(p.bursts), drop_in = random.wait(p.drops);
    uint64_t last = 0, carried = 0, flips = 0;  // flips: bits of a burst that extend into the next word

    Direction(const Parameters &parameters, uint64_t number) : p(parameters), random{p.seed * 3 + number} {}

    uint64_t errors() {
        uint64_t mask = flips;
        flips = 0;
        while (error_in < 64) {
            mask ^= uint64_t(1) << error_in;
            error_in += 1 + random.wait(p.bit_errors);
        }
        error_in -= 64;
        if (burst_in-- == 0) {
            burst_in = random.wait(p.bursts);
            const uint64_t length = 2 + random.below(p.burst_bits - 1), start = random.below(64);
            const uint64_t ends = 1 | uint64_t(1) << (length - 1);
            const uint64_t inside = length == 64 ? UINT64_MAX : (uint64_t(1) << length) - 1;
            const uint64_t burst = (random.bits() & inside) | ends;
            mask ^= burst << start;
            if (start) flips = burst >> (64 - start);
        }
        return mask;
    }

    // One cycle of the line; returns whether a word arrives, in `arrived`.
    bool cycle(uint64_t now, bool plugged, bool valid, uint64_t word, uint64_t &arrived) {
        const uint64_t mask = errors();
        if (valid) {
            carried++;
            const bool dropped = drop_in-- == 0;
            if (dropped) drop_in = random.wait(p.drops);
            const uint64_t phase = p.drift_period ? now % (2 * p.drift_period) : 0;
            const uint64_t far = phase < p.drift_period ? phase : 2 * p.drift_period - phase;
            const uint64_t more = p.drift_period ? p.drift * far / p.drift_period : 0;
            const uint64_t at = std::max(now + p.delay + more, last + 1);
            if (plugged && !dropped) under_way.push_back({word ^ mask, last = at});
        }
        if (!plugged) under_way.clear();
        if (under_way.empty() || under_way.front().at > now) return false;
        arrived = under_way.front().word;
        under_way.pop_front();
        return true;
    }
};

}  // namespace

// Offers vectors until the line has carried `words` words, in both directions together, then waits
// until it is idle. counts: words carried, cycles, unplugs. shown: the counters of both ends.
extern "C" void line_play(const Parameters *there, const Parameters *back, uint64_t words, uint64_t settle,
                          uint64_t *counts, uint32_t *shown, uint64_t row) {
    VerilatedContext context;
    const auto top_owner = std::make_unique<Vline_bench>(&context, "line_bench");
    Vline_bench &top = *top_owner;
    power_up(top);
    Plug plug{*there};
    Direction directions[2] = {{*there, 1}, {*back, 2}};
    const Parameters *parameters[2] = {there, back};
    uint64_t now = 0, rest = settle;
    while (rest) {
        top.offering = directions[0].carried + directions[1].carried < words;
        if (!top.offering) rest--;
        const bool plugged = plug.in(now) || !top.offering;
        uint32_t ready = 0, valid = 0;
        for (int n = 0; n < 2; n++) {
            const uint64_t every = parameters[n]->pause_every;
            ready |= uint32_t(!every || now % every != 0) << n;
        }
        top.out_ready = ready;
        top.into_valid = 0;
        top.eval();
        for (int n = 0; n < 2; n++) {
            const bool leaves = (top.out_valid & ready) >> n & 1;
            const uint64_t word = n ? top.out_word_1 : top.out_word_0;
            uint64_t arrived = 0;
            valid |= uint32_t(directions[n].cycle(now, plugged, leaves, word, arrived)) << n;
            (n ? top.into_word_0 : top.into_word_1) = arrived;
        }
        top.into_valid = (valid & 1) << 1 | valid >> 1;
        top.eval();
        clock_edge(top);
        now++;
    }
    counts[0] = directions[0].carried + directions[1].carried;
    counts[1] = now;
    counts[2] = plug.count;
    std::memcpy(shown, &top.shown, row);
    top.final();
}
