// Clocks of a top module with pulse cores, which have two clocks of their own: `play_clk` for logic active while engines
// run, `feed_clk` for logic that supplies them with segments. While they play and the rest of the logic is quiescent
// (`sim_waits`), only these run, `feed_clk` only while segments or words move (`sim_feeds`). Before an input or a due time
// concerns the rest, its counter is loaded with the current time, which is equivalent to a skip of time
// (docs/gateware/time.md).
#pragma once

#include <cstdint>

#include "clocked.h"

// Logic without pulse cores has one clock, in addition to those of gated parts.
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
    // True: all clocks run in every cycle.
    bool together = false;
    // Cycles in which only pulse cores were clocked, and the part of them in which only engines were.
    uint64_t alone = 0, engines = 0;

    // The current cycle: `sim_tsc` plus the cycles that it lags behind.
    uint64_t time(const Top &top) const { return top.sim_tsc + behind_; }

    // Begins a cycle, before its inputs are applied. comes: they differ from those of the previous cycle.
    void begin(Top &top, bool comes) {
        if (behind_ && (comes || !early(top))) catch_up(top);
        if (!comes) return;
        settled_ = false;
        waited_ = 0;
    }

    // Evaluates the outputs of this cycle, after its inputs have been applied.
    void settle(Top &top) {
        if (!settled_) top.eval();
    }

    // The clock edge at the end of a settled cycle.
    void edge(Top &top) {
        const bool waits = top.sim_waits && early(top);
        if (waits && waited_ >= SETTLING && !together) {
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
    // Cycles for which the rest is clocked after an input change (synchronisers) and before a due time.
    static constexpr uint64_t SETTLING = 8;
    // Cycles without a moving segment or word until the logic on `feed_clk` is stable.
    static constexpr uint64_t FED = 4;
    uint64_t behind_ = 0;  // cycles of `alone` not yet added to the rest's counter
    bool settled_ = true;  // nothing has changed since the last edge
    uint64_t waited_ = 0;  // preceding cycles with the same inputs
    uint64_t still_ = 0;  // cycles without a moving segment or word, including this one

    // Whether nothing is due in the next cycles.
    bool early(const Top &top) const { return time(top) + SETTLING < top.sim_next_due; }

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
