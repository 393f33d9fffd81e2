// Plays a stream of words in the verilated channels of the pulse core (pulse_bench.py).

#include <cstdint>
#include <cstring>
#include <memory>

#include "Vpulse_engines.h"
#include "clocked.h"
#include "verilated.h"

extern "C" uint32_t pulse_play(const uint32_t (*words)[8], const uint32_t *gaps, const uint32_t *triggers,
                               const uint32_t (*results)[2], const uint32_t *settings, uint8_t *shown,
                               uint32_t (*states)[5], uint32_t *taken, uint32_t word_count, uint32_t trigger_count,
                               uint32_t result_count, uint32_t cycles, uint32_t row, uint32_t follow) {
    VerilatedContext context;
    const auto top_owner = std::make_unique<Vpulse_engines>(&context, "pulse_engines");
    Vpulse_engines &top = *top_owner;
    power_up(top);
    top.trigger_strict = settings[0];
    top.hold = settings[1];
    top.misalign_limit = settings[2];
    top.branch_timeout = settings[3];
    top.trigger_channels = settings[4];

    uint32_t word = 0, trigger = 0, result = 0, resume = word_count ? gaps[0] : 0;
    bool was_armed = false;
    for (uint32_t cycle = 0; cycle < cycles; cycle++) {
        top.valid = word < word_count && cycle >= resume;
        if (top.valid) std::memcpy(&top.word, words[word], sizeof words[word]);
        top.result_valid = result < result_count && results[result][0] == cycle;
        if (top.result_valid) top.result = results[result++][1];
        // The armed state is registered, so the trigger of this cycle may depend on it
        top.trigger = trigger < trigger_count && triggers[trigger] == cycle;
        trigger += top.trigger;
        top.eval();
        const bool armed = (top.armed & top.trigger_channels) == top.trigger_channels;
        if (follow && armed && was_armed) {
            top.trigger = 1;
            top.eval();
        }
        was_armed = armed;
        std::memcpy(shown + size_t(row) * cycle, &top.shown, row);
        states[cycle][0] = top.armed;
        states[cycle][1] = top.running;
        states[cycle][2] = top.settled;
        states[cycle][3] = top.waiting;
        states[cycle][4] = top.trigger;
        const bool moved = top.valid && top.ready;
        clock_edge(top);
        if (moved) {
            taken[word++] = cycle;
            resume = cycle + 1 + (word < word_count ? gaps[word] : 0);
        }
    }
    const uint32_t errors = top.errors;
    top.final();
    return errors;
}
