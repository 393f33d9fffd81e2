// Implements kairos_pl.h on the verilated model. Compiled together with `kairos_pl_config.h`, which
// the build writes: KAIROS_PADS (number of pads), KAIROS_OUTPUTS (number of outputs with samples),
// KAIROS_CORES (whether there are pulse cores), KAIROS_LINKS (number of links) and KAIROS_INFO (a C string literal, the
// JSON of kairos_pl_info).

#include <cstring>
#include <new>

#include "Vkairos_sim.h"

#include "Vkairos_sim___024root.h"
#include "clocks.h"
#include "kairos_pl.h"
#include "kairos_pl_config.h"
#include "recorder.h"
#include "verilated.h"

// The part of the model's `eval` that evaluates clock edges, under Verilator's names for it; it
// suffices if no other input changes. The rest, which evaluates input changes, took a tenth of the
// time of a playing core.
bool Vkairos_sim___024root___eval_phase__act(Vkairos_sim___024root *);
bool Vkairos_sim___024root___eval_phase__nba(Vkairos_sim___024root *);

void eval_clocks(Vkairos_sim &top) {
    do {
        while (Vkairos_sim___024root___eval_phase__act(top.rootp)) {}
    } while (Vkairos_sim___024root___eval_phase__nba(top.rootp));
}

static_assert(KAIROS_PADS <= KAIROS_PL_MAX_PADS, "more pads than the interface has room for");

namespace {

// The outputs whose change ends kairos_pl_run.
struct Watched {
    uint8_t pads_o[KAIROS_PADS];
    uint8_t pads_oe[(KAIROS_PADS + 31) / 32 * 4];
    uint16_t valid, irq;
    uint8_t event;
    uint8_t quiet;
};

}  // namespace

struct kairos_pl {
    VerilatedContext context;
    Vkairos_sim top{&context, "kairos_sim"};
    Watched watched{};
    kairos_pl_in applied{};  // in the previous cycle
    // Links count idle cycles too, so they need every clock edge
#if KAIROS_CORES && !KAIROS_LINKS
    TwoClocks<Vkairos_sim> clocks;
#else
    OneClock<Vkairos_sim> clocks;
#endif
#if KAIROS_OUTPUTS
    Recorder<KAIROS_OUTPUTS> recorder;
#endif

    void settle() {
        clocks.settle(top);
#if KAIROS_OUTPUTS
        recorder.see(clocks.time(top), &top.shown);
#endif
    }

    void power_up() {
        apply(applied);
        ::power_up(top);
        watched = watch();
    }

    // Begins a cycle with these inputs.
    void begin(const kairos_pl_in &in) {
        const bool comes = std::memcmp(&in, &applied, sizeof in) != 0;
        clocks.begin(top, comes);
        if (!comes) return;
        apply(in);
        applied = in;
    }

    void apply(const kairos_pl_in &in) {
        top.sim_tsc_value = in.sim_tsc_value;
        top.sim_tsc_load = in.sim_tsc_load;
        top.event_o = in.event_o;
        top.emio_o = in.emio_o;
        top.gp0_awaddr = in.gp0_awaddr;
        top.gp0_wdata = in.gp0_wdata;
        top.gp0_araddr = in.gp0_araddr;
        top.gp0_awid = in.gp0_awid & 0xfff;
        top.gp0_wid = in.gp0_wid & 0xfff;
        top.gp0_arid = in.gp0_arid & 0xfff;
        top.gp0_awvalid = in.gp0_awvalid;
        top.gp0_awlen = in.gp0_awlen & 0xf;
        top.gp0_awsize = in.gp0_awsize & 0x7;
        top.gp0_awburst = in.gp0_awburst & 0x3;
        top.gp0_wvalid = in.gp0_wvalid;
        top.gp0_wstrb = in.gp0_wstrb & 0xf;
        top.gp0_wlast = in.gp0_wlast;
        top.gp0_bready = in.gp0_bready;
        top.gp0_arvalid = in.gp0_arvalid;
        top.gp0_arlen = in.gp0_arlen & 0xf;
        top.gp0_arsize = in.gp0_arsize & 0x7;
        top.gp0_arburst = in.gp0_arburst & 0x3;
        top.gp0_rready = in.gp0_rready;
#if KAIROS_WINDOW
        top.gp1_awaddr = in.gp1_awaddr;
        top.gp1_wdata = in.gp1_wdata;
        top.gp1_araddr = in.gp1_araddr;
        top.gp1_awvalid = in.gp1_awvalid;
        top.gp1_awlen = in.gp1_awlen & 0xf;
        top.gp1_wvalid = in.gp1_wvalid;
        top.gp1_wstrb = in.gp1_wstrb & 0xf;
        top.gp1_wlast = in.gp1_wlast;
        top.gp1_bready = in.gp1_bready;
        top.gp1_arvalid = in.gp1_arvalid;
        top.gp1_arlen = in.gp1_arlen & 0xf;
        top.gp1_rready = in.gp1_rready;
#endif
#if KAIROS_SLAVE
        top.sgp0_rdata = in.sgp0_rdata;
        top.sgp0_arready = in.sgp0_arready;
        top.sgp0_rvalid = in.sgp0_rvalid;
        top.sgp0_rresp = in.sgp0_rresp & 0x3;
        top.sgp0_awready = in.sgp0_awready;
        top.sgp0_wready = in.sgp0_wready;
        top.sgp0_bvalid = in.sgp0_bvalid;
        top.sgp0_bresp = in.sgp0_bresp & 0x3;
#endif
        top.acp_arready = in.acp_arready;
        top.acp_rvalid = in.acp_rvalid;
        top.acp_rid = in.acp_rid & 0x7;
        top.acp_rlast = in.acp_rlast;
        top.acp_rresp = in.acp_rresp & 0x3;
        top.acp_rdata = in.acp_rdata;
        top.acp_awready = in.acp_awready;
        top.acp_wready = in.acp_wready;
        top.acp_bvalid = in.acp_bvalid;
        top.acp_bid = in.acp_bid & 0x7;
        top.acp_bresp = in.acp_bresp & 0x3;
        top.hp0_arready = in.hp0_arready;
        top.hp0_rvalid = in.hp0_rvalid;
        top.hp0_rlast = in.hp0_rlast;
        top.hp0_rresp = in.hp0_rresp & 0x3;
        top.hp0_rdata = in.hp0_rdata;
        top.hp0_awready = in.hp0_awready;
        top.hp0_wready = in.hp0_wready;
        top.hp0_bvalid = in.hp0_bvalid;
        top.hp0_bresp = in.hp0_bresp & 0x3;
        // Verilator stores wide ports as little-endian 32-bit words: on a little-endian host, the
        // bytes in order
        std::memcpy(&top.pads_i, in.pads_i, KAIROS_PADS);
#if KAIROS_LINKS
        top.link_rx_valid = in.link_rx_valid & ((1 << KAIROS_LINKS) - 1);
        top.link_rx_up = in.link_rx_up & ((1 << KAIROS_LINKS) - 1);
        std::memcpy(&top.link_rx_word, in.link_rx_word, 8 * KAIROS_LINKS);
        std::memcpy(&top.link_rx_phase, in.link_rx_phase, 2 * KAIROS_LINKS);
#endif
    }

    void report(kairos_pl_out &out) const {
        out.sim_tsc = clocks.time(top);
        out.sim_next_due = top.sim_next_due;
        out.sim_quiet = top.sim_quiet;
        out.event_i = top.event_i;
        out.emio_i = top.emio_i;
        out.irq_f2p = top.irq_f2p;
        out.gp0_rdata = top.gp0_rdata;
        out.gp0_bid = top.gp0_bid;
        out.gp0_rid = top.gp0_rid;
        out.gp0_awready = top.gp0_awready;
        out.gp0_wready = top.gp0_wready;
        out.gp0_bvalid = top.gp0_bvalid;
        out.gp0_bresp = top.gp0_bresp;
        out.gp0_arready = top.gp0_arready;
        out.gp0_rvalid = top.gp0_rvalid;
        out.gp0_rlast = top.gp0_rlast;
        out.gp0_rresp = top.gp0_rresp;
#if KAIROS_WINDOW
        out.gp1_rdata = top.gp1_rdata;
        out.gp1_awready = top.gp1_awready;
        out.gp1_wready = top.gp1_wready;
        out.gp1_bvalid = top.gp1_bvalid;
        out.gp1_bresp = top.gp1_bresp;
        out.gp1_arready = top.gp1_arready;
        out.gp1_rvalid = top.gp1_rvalid;
        out.gp1_rlast = top.gp1_rlast;
        out.gp1_rresp = top.gp1_rresp;
#else
        out.gp1_rdata = 0;
        out.gp1_awready = out.gp1_wready = out.gp1_arready = 0;
        out.gp1_bvalid = out.gp1_rvalid = out.gp1_rlast = out.gp1_bresp = out.gp1_rresp = 0;
#endif
#if KAIROS_SLAVE
        out.sgp0_araddr = top.sgp0_araddr;
        out.sgp0_awaddr = top.sgp0_awaddr;
        out.sgp0_wdata = top.sgp0_wdata;
        out.sgp0_arvalid = top.sgp0_arvalid;
        out.sgp0_arsize = top.sgp0_arsize;
        out.sgp0_rready = top.sgp0_rready;
        out.sgp0_awvalid = top.sgp0_awvalid;
        out.sgp0_awsize = top.sgp0_awsize;
        out.sgp0_wvalid = top.sgp0_wvalid;
        out.sgp0_wstrb = top.sgp0_wstrb;
        out.sgp0_bready = top.sgp0_bready;
#else
        out.sgp0_araddr = out.sgp0_awaddr = out.sgp0_wdata = 0;
        out.sgp0_arvalid = out.sgp0_arsize = out.sgp0_rready = out.sgp0_awvalid = out.sgp0_awsize = 0;
        out.sgp0_wvalid = out.sgp0_wstrb = out.sgp0_bready = 0;
#endif
        out.acp_wdata = top.acp_wdata;
        out.acp_araddr = top.acp_araddr;
        out.acp_awaddr = top.acp_awaddr;
        out.acp_arvalid = top.acp_arvalid;
        out.acp_arid = top.acp_arid;
        out.acp_arlen = top.acp_arlen;
        out.acp_rready = top.acp_rready;
        out.acp_awvalid = top.acp_awvalid;
        out.acp_awid = top.acp_awid;
        out.acp_awlen = top.acp_awlen;
        out.acp_wvalid = top.acp_wvalid;
        out.acp_wstrb = top.acp_wstrb;
        out.acp_wlast = top.acp_wlast;
        out.acp_bready = top.acp_bready;
        out.hp0_wdata = top.hp0_wdata;
        out.hp0_araddr = top.hp0_araddr;
        out.hp0_awaddr = top.hp0_awaddr;
        out.hp0_arvalid = top.hp0_arvalid;
        out.hp0_arlen = top.hp0_arlen;
        out.hp0_rready = top.hp0_rready;
        out.hp0_awvalid = top.hp0_awvalid;
        out.hp0_awlen = top.hp0_awlen;
        out.hp0_wvalid = top.hp0_wvalid;
        out.hp0_wstrb = top.hp0_wstrb;
        out.hp0_wlast = top.hp0_wlast;
        out.hp0_bready = top.hp0_bready;
        std::memcpy(out.pads_o, watched.pads_o, KAIROS_PADS);
        for (int i = 0; i < KAIROS_PADS; i++) out.pads_oe[i] = watched.pads_oe[i / 8] >> (i % 8) & 1;
    }

    // Reads a register, clocking only the register bus; returns the number of cycles.
    uint32_t read(uint32_t address, uint32_t size, uint32_t &word) {
        top.gp0_araddr = address;
        top.gp0_arlen = 0;
        top.gp0_arsize = size & 0x7;
        top.gp0_arburst = 1;
        top.gp0_arvalid = top.gp0_rready = 1;
        top.eval();
        uint32_t cycles = 0;
        for (bool answered = false; !answered;) {
            cycles++;
            answered = top.gp0_rvalid;
            word = top.gp0_rdata;
            const bool taken = top.gp0_arvalid && top.gp0_arready;
            top.registers_clk ^= 1;
            eval_clocks(top);
            if (!taken) continue;
            top.gp0_arvalid = 0;
            top.eval();
        }
        if (!applied.gp0_rready) {
            top.gp0_rready = 0;
            top.eval();
        }
        return cycles;
    }

    // Reports, after the edge, the words sent in the next cycle; returns whether there are any.
    bool report_links(kairos_pl_out &out) const {
#if KAIROS_LINKS
        out.link_tx_valid = top.link_tx_valid;
        std::memcpy(out.link_tx_word, &top.link_tx_word, 8 * KAIROS_LINKS);
        return top.link_tx_valid != 0;
#else
        out.link_tx_valid = 0;
        return false;
#endif
    }

    Watched watch() const {
        Watched w{};
        std::memcpy(w.pads_o, &top.pads_o, sizeof w.pads_o);
        std::memcpy(w.pads_oe, &top.pads_oe, sizeof top.pads_oe < sizeof w.pads_oe ? sizeof top.pads_oe : sizeof w.pads_oe);
        w.valid = top.gp0_bvalid | top.gp0_rvalid << 1 | top.acp_arvalid << 2 | top.acp_awvalid << 3 | top.acp_wvalid << 4 |
                  top.hp0_arvalid << 5 | top.hp0_awvalid << 6 | top.hp0_wvalid << 7;
#if KAIROS_WINDOW
        w.valid |= top.gp1_bvalid << 8 | top.gp1_rvalid << 9;
#endif
#if KAIROS_SLAVE
        w.valid |= top.sgp0_arvalid << 10 | top.sgp0_awvalid << 11 | top.sgp0_wvalid << 12;
#endif
        w.irq = top.irq_f2p;
        w.event = top.event_i;
        w.quiet = top.sim_quiet;
        return w;
    }
};

extern "C" {

uint32_t kairos_pl_abi(void) { return KAIROS_PL_ABI; }

const char *kairos_pl_info(void) { return KAIROS_INFO; }

kairos_pl *kairos_pl_new(void) {
    kairos_pl *pl = new (std::nothrow) kairos_pl;
    if (pl) pl->power_up();
    return pl;
}

void kairos_pl_free(kairos_pl *pl) {
    if (pl) pl->top.final();
    delete pl;
}

void kairos_pl_cycle(kairos_pl *pl, const kairos_pl_in *in, kairos_pl_out *out) {
    pl->begin(*in);
    pl->settle();
    pl->watched = pl->watch();
    pl->report(*out);
    pl->clocks.edge(pl->top);
    pl->report_links(*out);
}

uint64_t kairos_pl_run(kairos_pl *pl, const kairos_pl_in *in, kairos_pl_out *out, uint64_t n, uint64_t until_tsc) {
    uint64_t cycles = 0;
    while (cycles < n) {
        if (cycles == 0)
            pl->begin(*in);
        else
            pl->clocks.begin(pl->top, false);
        pl->settle();
        const Watched now = pl->watch();
        const bool stop = std::memcmp(&now, &pl->watched, sizeof now) != 0 || pl->clocks.time(pl->top) >= until_tsc;
        cycles++;
        if (stop || cycles == n) {
            pl->watched = now;
            pl->report(*out);
            pl->clocks.edge(pl->top);
            pl->report_links(*out);
            break;
        }
#if KAIROS_LINKS
        // All other watched outputs equal those of the previous cycle. sim_quiet is set because `out`
        // may hold an older value: after a skip of time, whose own cycle is not quiet.
        out->sim_quiet = now.quiet;
        out->sim_tsc = pl->clocks.time(pl->top);
        out->sim_next_due = pl->top.sim_next_due;
#endif
        pl->clocks.edge(pl->top);
        if (pl->report_links(*out)) break;
    }
    return cycles;
}

uint32_t kairos_pl_read(kairos_pl *pl, uint32_t address, uint32_t size, uint32_t *word) {
    if (KAIROS_LINKS || !pl->top.sim_quiet || pl->clocks.together) return 0;
    return pl->read(address, size, *word);
}

uint64_t kairos_pl_together(kairos_pl *pl, int together, uint64_t *engines) {
    pl->clocks.together = together;
    *engines = pl->clocks.engines;
    return pl->clocks.alone;
}

uint64_t kairos_pl_shown(const kairos_pl *pl, const uint64_t **words, uint32_t *complete) {
#if KAIROS_OUTPUTS
    *words = pl->recorder.words.data();
    *complete = pl->recorder.complete;
    return pl->recorder.words.size();
#else
    (void)pl;
    *words = nullptr;
    *complete = 1;
    return 0;
#endif
}

}  // extern "C"
