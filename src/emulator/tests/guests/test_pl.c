// Substitute for the gateware in the emulator's own tests; implements kairos_pl.h. On an event it reads a transaction
// (layout of docs/interfaces.md section 5, first three beats), queues (time, level) for pad 0, writes the status word
// back and toggles event_i. Registers: 0x40010000 buffer address (rw), 0x40010004/8 counter, 0x4000_0000 magic.
// Port GP1: 16 words at 0x80000000; an access takes the number of cycles in bits 27..16 of its address. Bit 28 of the
// address selects a slave error, bit 29 a decode error.
#include <stdlib.h>
#include <string.h>
#include "kairos_pl.h"
#ifndef TEST_ABI
#define TEST_ABI KAIROS_PL_ABI
#endif
#define QUEUE 256
struct kairos_pl {
    uint64_t tsc, beats[3], latch;
    uint32_t base, gp_address, gp_data;
    int sync[3], state, beat, event_i, pad, ar, aw, w, quiet_in;
    uint32_t window[16], window_address, window_data;
    int window_state, window_count, window_strobes;
    uint64_t time[QUEUE]; int level[QUEUE]; int head, tail;
};
uint32_t kairos_pl_abi(void) { return TEST_ABI; }
const char *kairos_pl_info(void) {
    return "{\"variant\":\"test\",\"pads\":[{\"index\":0,\"name\":\"pad0\",\"channel\":0,\"direction\":\"out\"}],"
           "\"rtio_frequency\":125000000,\"fine_bits\":3,\"window\":true}";
}
kairos_pl *kairos_pl_new(void) { return calloc(1, sizeof(kairos_pl)); }
void kairos_pl_free(kairos_pl *p) { free(p); }
void kairos_pl_cycle(kairos_pl *p, const kairos_pl_in *in, kairos_pl_out *out) {
    memset(out, 0, sizeof *out);
    // Outputs of this cycle.
    out->sim_tsc = p->tsc;
    out->event_i = p->event_i;
    int fire = p->head != p->tail && p->time[p->head % QUEUE] == p->tsc;
    if (fire) { p->pad = p->level[p->head % QUEUE]; p->head++; }
    out->pads_o[0] = p->pad ? 0xff : 0; out->pads_oe[0] = 1;
    out->sim_next_due = p->head == p->tail ? ~0ull : p->time[p->head % QUEUE] - 4;
    out->sim_quiet = p->state == 0 && !fire && p->sync[0] == p->sync[2] && !p->ar && !p->aw && !p->w && !p->window_state;
    out->acp_arvalid = p->state == 1; out->acp_araddr = p->base; out->acp_arlen = 2; out->acp_rready = p->state == 2;
    out->acp_awvalid = p->state == 3; out->acp_awaddr = p->base + 104; out->acp_awlen = 0;
    out->acp_wvalid = p->state == 3 || p->state == 4; out->acp_wlast = 1; out->acp_wstrb = 0xff;
    out->acp_wdata = (p->beats[0] & 0xffff0000) | 0x8000; out->acp_bready = 1;
    out->gp0_arready = !p->ar; out->gp0_awready = !p->aw; out->gp0_wready = !p->w;
    out->gp0_rvalid = p->ar; out->gp0_rlast = 1;
    out->gp0_rdata = p->gp_address == 0x40000000 ? 0x5249414b : p->gp_address == 0x40010000 ? p->base
        : p->gp_address == 0x40010004 ? (uint32_t)p->latch : (uint32_t)(p->latch >> 32);
    out->gp0_bvalid = p->aw && p->w;
    int window_done = p->window_state && p->window_count == 0, response = p->window_address >> 29 & 1 ? 3 : p->window_address >> 28 & 1 ? 2 : 0;
    out->gp1_arready = out->gp1_awready = out->gp1_wready = !p->window_state;
    out->gp1_rvalid = out->gp1_rlast = window_done && p->window_state == 1;
    out->gp1_bvalid = window_done && p->window_state == 2;
    out->gp1_rdata = p->window[p->window_address >> 2 & 15];
    out->gp1_rresp = out->gp1_bresp = response;
    // The clock edge.
    if (!p->window_state && (in->gp1_arvalid || in->gp1_awvalid)) {
        p->window_state = in->gp1_arvalid ? 1 : 2;
        p->window_address = in->gp1_arvalid ? in->gp1_araddr : in->gp1_awaddr;
        p->window_data = in->gp1_wdata; p->window_strobes = in->gp1_wstrb;
        p->window_count = p->window_address >> 16 & 0xfff;
    } else if (window_done) {
        if (p->window_state == 2 && !response)
            for (int n = 0; n < 4; n++) if (p->window_strobes >> n & 1)
                ((uint8_t *)&p->window[p->window_address >> 2 & 15])[n] = p->window_data >> 8 * n;
        p->window_state = 0;
    } else if (p->window_state) p->window_count--;
    int trigger = p->sync[1] != p->sync[2];
    p->sync[2] = p->sync[1]; p->sync[1] = p->sync[0]; p->sync[0] = in->event_o;
    switch (p->state) {
    case 0: if (trigger) { p->state = 1; p->beat = 0; } break;
    case 1: if (in->acp_arready) p->state = 2; break;
    case 2: if (in->acp_rvalid) {
        p->beats[p->beat++] = in->acp_rdata;
        if (in->acp_rlast) {
            p->time[p->tail % QUEUE] = p->beats[1]; p->state = 3;
            p->level[p->tail % QUEUE] = p->beats[2] & 1; p->tail++;
        } } break;
    case 3: if (in->acp_awready) p->state = in->acp_wready ? 5 : 4; break;
    case 4: if (in->acp_wready) p->state = 5; break;
    case 5: if (in->acp_bvalid) { p->state = 0; p->event_i ^= 1; } break;
    }
    if (out->gp0_rvalid && in->gp0_rready) p->ar = 0;
    else if (in->gp0_arvalid && !p->ar) {
        p->ar = 1; p->gp_address = in->gp0_araddr;
        if (in->gp0_araddr == 0x40010004) p->latch = p->tsc;
    }
    if (out->gp0_bvalid && in->gp0_bready) p->aw = p->w = 0;
    else {
        if (in->gp0_awvalid) { p->aw = 1; p->gp_address = in->gp0_awaddr; }
        if (in->gp0_wvalid) { p->w = 1; if (in->gp0_wstrb == 15) p->base = in->gp0_wdata; }
    }
    p->tsc = in->sim_tsc_load ? in->sim_tsc_value : p->tsc + 1;
}
uint64_t kairos_pl_run(kairos_pl *p, const kairos_pl_in *in, kairos_pl_out *out, uint64_t n, uint64_t until) {
    kairos_pl_out before = *out;
    for (uint64_t i = 1; i <= n; i++) {
        kairos_pl_cycle(p, in, out);
        if (out->sim_tsc >= until || out->acp_arvalid != before.acp_arvalid || out->acp_awvalid != before.acp_awvalid
            || out->acp_wvalid != before.acp_wvalid || out->gp0_rvalid != before.gp0_rvalid
            || out->gp0_bvalid != before.gp0_bvalid || out->gp1_rvalid != before.gp1_rvalid || out->gp1_bvalid != before.gp1_bvalid || out->event_i != before.event_i || out->irq_f2p != before.irq_f2p
            || out->sim_quiet != before.sim_quiet || memcmp(out->pads_o, before.pads_o, sizeof before.pads_o)
            || memcmp(out->pads_oe, before.pads_oe, sizeof before.pads_oe)) return i;
        before = *out;
    }
    return n;
}
/* Reads have side effects here. */
uint32_t kairos_pl_read(kairos_pl *p, uint32_t address, uint32_t size, uint32_t *word) {
    (void)p; (void)address; (void)size; (void)word;
    return 0;
}
