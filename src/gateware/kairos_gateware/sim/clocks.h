// The clocks of a top module with pulse cores, which have two of their own: `play_clk` of what moves while engines run,
// `feed_clk` of what gives them segments. While they play and nothing else moves (`sim_waits`), only those run, the latter
// only when segments or words move (`sim_feeds`). Before something comes to the rest, from outside or by its time, the
// rest's counter is loaded with the time that it has missed: it cannot tell that from a skip of time
// (docs/gateware/time.md).
#pragma once

#include <cstdint>

#include "clocked.h"

// What moves without pulse cores has one clock, beside those of parts that rest.
template <class Top> class OneClock {
  public:
    bool together = false;
    uint64_t alone = 0, engines = 0;
    uint64_t time(const Top &top) const { return top.sim_tsc; }
    void begin(Top &, bool comes) { settled_ = !comes; }
    void settle(Top &top) {
        if (!settled_) top.eval();
    }
    void edge(Top &top) { clock_edge(top, together); }

  private:
    bool settled_ = true;  // nothing has changed since the last edge
};

template <class Top> class TwoClocks {
  public:
    // True: all always run.
    bool together = false;
    // Cycles that only pulse cores have seen, and of those the ones that only engines have.
    uint64_t alone = 0, engines = 0;

    // The count of cycles, by `sim_tsc` and what it is behind.
    uint64_t time(const Top &top) const { return top.sim_tsc + behind_; }

    // A cycle begins, before its inputs are applied. comes: they differ from those of the cycle before.
    void begin(Top &top, bool comes) {
        if (behind_ && (comes || !early(top))) catch_up(top);
        if (!comes) return;
        settled_ = false;
        waited_ = 0;
    }

    // Outputs are those of this cycle, after its inputs have been applied.
    void settle(Top &top) {
        if (!settled_) top.eval();
    }

    // The rising edge at the end of a cycle in which all has settled.
    void edge(Top &top) {
        const bool waits = top.sim_waits && early(top);
        if (waits && waited_ >= SETTLE && !together) {
            alone++;
            behind_++;
            top.play_clk ^= 1;
            still_ = top.sim_feeds ? 0 : still_ + 1;
            if (still_ < FED)
                top.feed_clk ^= 1;
            else
                engines++;
            eval_clocks(top);
        } else {
            still_ = 0;
            clock_edge(top, together);
        }
        settled_ = true;
        waited_ = waits ? waited_ + 1 : 0;
    }

  private:
    // Cycles that the rest sees after an input has changed (synchronisers), and before something comes by its time.
    static constexpr uint64_t SETTLE = 8;
    // Cycles without a segment or word that moves until what gives them is as it stays.
    static constexpr uint64_t FED = 4;
    uint64_t behind_ = 0;  // of `alone`, those that the rest does not know of yet
    bool settled_ = true;  // nothing has changed since the last edge
    uint64_t waited_ = 0;  // cycles before this one, all with the same inputs
    uint64_t still_ = 0;  // cycles without a segment or word that moves, this one included

    // Nothing comes by its time in the next cycles.
    bool early(const Top &top) const { return time(top) + SETTLE < top.sim_next_due; }

    void catch_up(Top &top) {
        top.sim_tsc_value = time(top);
        top.sim_tsc_load = 1;
        top.eval();
        sys_edge(top, together);
        eval_clocks(top);
        top.sim_tsc_load = 0;
        behind_ = 0;
        settled_ = false;
    }
};
