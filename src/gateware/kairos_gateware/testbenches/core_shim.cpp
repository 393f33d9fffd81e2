// Plays a stream of commands in the verilated RTIO core (core_bench.py). Compiled together with
// `kairos_pl_config.h`, which the build writes: KAIROS_PADS.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>

#include "Vrtio_core.h"
#include "clocked.h"
#include "kairos_pl_config.h"
#include "verilated.h"

namespace {

enum { OUTPUT = 0, INPUT = 1 };
constexpr uint64_t NEVER = ~uint64_t(0);
constexpr uint64_t TIMEOUT = 20'000'000;  // cycles

struct Command {
    int64_t time;
    uint32_t pause, channel, data;
    uint8_t address, kind, relative;
};

struct Answer {
    uint64_t accepted, answered;
    int64_t time, timestamp;
    uint32_t data, status;
};

struct Edge {
    uint64_t coarse;
    uint32_t pad, level;
};

struct Change {
    uint64_t coarse;
    uint32_t pad;
    uint8_t samples, driven;
};

struct Pads {
    uint8_t samples[KAIROS_PADS] = {};
    uint8_t driven[(KAIROS_PADS + 31) / 32 * 4] = {};
    bool drives(unsigned pad) const { return driven[pad / 8] >> (pad % 8) & 1; }
};

}  // namespace

extern "C" uint64_t rtio_core_play(const Command *commands, uint32_t command_count, const Edge *edges, uint32_t edge_count,
                                   uint64_t until, int skip, Answer *answers, Change *changes, uint32_t *change_count,
                                   uint32_t *errors, uint64_t *end) {
    VerilatedContext context;
    const auto top_owner = std::make_unique<Vrtio_core>(&context, "rtio_core");
    Vrtio_core &top = *top_owner;
    power_up(top);

    Pads seen;
    std::memcpy(seen.samples, &top.pads_o, sizeof seen.samples);
    std::memcpy(seen.driven, &top.pads_oe, std::min(sizeof seen.driven, sizeof top.pads_oe));
    uint32_t next = 0, answered = 0, edge = 0, changed = 0;
    uint64_t tsc = top.tsc, resume = tsc + (command_count ? commands[0].pause : 0), cycles = 0, jump = 0;
    bool offering = false, reading = false;
    bool settled = true;  // with the current inputs
    for (;; cycles++) {
        if (cycles == TIMEOUT) return 0;
        // Inputs of this cycle, whose number is `tsc`
        bool same = true;
        for (; edge < edge_count && edges[edge].coarse <= tsc; edge++) {
            reinterpret_cast<uint8_t *>(&top.pads_i)[edges[edge].pad] = edges[edge].level ? 0xff : 0;
            same = false;
        }
        if (!offering && !reading && next < command_count && tsc >= resume) {
            const Command &c = commands[next];
            answers[next].time = c.time + (c.relative ? int64_t(tsc << 3) : 0);
            if (c.kind == OUTPUT) {
                top.output_valid = 1;
                top.output_channel = c.channel;
                top.output_address = c.address;
                top.output_data = c.data;
                top.output_timestamp = answers[next].time;
            } else {
                top.input_valid = 1;
                top.input_channel = c.channel;
                top.input_timeout = answers[next].time;
            }
            offering = true;
            same = false;
        }
        settled = settled && same && !top.tsc_load;
        // The counter may be loaded in a cycle with the same inputs as the preceding quiet one
        top.tsc_load = 0;
        if (jump) {
            uint64_t target = jump;
            if (edge < edge_count) target = std::min(target, edges[edge].coarse);
            if (!offering && !reading && next < command_count) target = std::min(target, resume);
            if (next == command_count) target = std::min(target, until);
            if (same && target != NEVER && target > tsc + 1) {
                top.tsc_load = 1;
                top.tsc_value = target;
                settled = false;
            }
        }
        if (!settled) top.eval();
        // Outputs of this cycle
        Pads pads;
        std::memcpy(pads.samples, &top.pads_o, sizeof pads.samples);
        std::memcpy(pads.driven, &top.pads_oe, std::min(sizeof pads.driven, sizeof top.pads_oe));
        if (std::memcmp(&pads, &seen, sizeof pads) != 0) {
            for (unsigned pad = 0; pad < KAIROS_PADS; pad++) {
                if (pads.samples[pad] == seen.samples[pad] && pads.drives(pad) == seen.drives(pad)) continue;
                if (changed < *change_count) changes[changed++] = {tsc, pad, pads.samples[pad], pads.drives(pad)};
            }
            seen = pads;
        }
        if (top.output_done || top.input_done) {
            Answer &answer = answers[answered++];
            answer.answered = tsc;
            answer.status = top.output_done ? top.output_status : top.input_status;
            answer.timestamp = top.output_done ? 0 : int64_t(top.input_timestamp);
            answer.data = top.output_done ? 0 : top.input_data;
            if (top.input_done) {
                reading = false;
                resume = tsc + 1 + (next < command_count ? commands[next].pause : 0);
            }
        }
        const bool output_taken = top.output_valid && top.output_ready, input_taken = top.input_valid && top.input_ready;
        jump = skip && top.quiet ? (top.next_due == (uint64_t(1) << 61) - 1 ? NEVER : uint64_t(top.next_due)) : 0;
        const bool finished = answered == command_count && edge == edge_count && tsc >= until;
        const uint64_t following = top.tsc_load ? top.tsc_value : tsc + 1;
        clock_edge(top);
        settled = !output_taken && !input_taken;
        if (!settled) {
            answers[next++].accepted = tsc;
            offering = false;
            reading = input_taken;
            top.output_valid = 0;
            top.input_valid = 0;
            resume = tsc + 1 + (next < command_count ? commands[next].pause : 0);
        }
        if (finished) break;
        tsc = following;
    }
    *end = tsc;
    errors[0] = top.errors;
    for (int n = 0; n < 3; n++) errors[n + 1] = top.error_channels >> (16 * n) & 0xffff;
    *change_count = changed;
    top.final();
    return cycles;
}
