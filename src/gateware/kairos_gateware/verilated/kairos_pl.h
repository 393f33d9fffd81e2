/* The programmable logic as a shared library: the C interface of verilated gateware, for the emulator.
 *
 * The signals are those of the processing system's ports (docs/interfaces.md, section 6). A field holds one
 * clock cycle's value of the port of the same name; single-bit signals are 0 or 1 in a byte.
 *
 * Generated from src/contracts/pl_library/ports.toml by src/contracts/generate.py: do not edit.
 */
#ifndef KAIROS_PL_H
#define KAIROS_PL_H

#include <stdint.h>

/* Version of the interface: raised when a structure or a function changes. */
#define KAIROS_PL_ABI 8
/* Entries of the pad arrays. */
#define KAIROS_PL_MAX_PADS 128
/* Entries of the link arrays. */
#define KAIROS_PL_MAX_LINKS 8

/* From the processing system (and the simulation) into the logic, during one cycle. */
typedef struct kairos_pl_in {
    uint64_t sim_tsc_value;
    uint64_t acp_rdata;
    uint64_t hp0_rdata;
    uint64_t emio_o; /* lines of the GPIO controller */
    uint64_t link_rx_word[KAIROS_PL_MAX_LINKS];
    uint32_t gp0_awaddr;
    uint32_t gp0_wdata;
    uint32_t gp0_araddr;
    uint32_t gp1_awaddr;
    uint32_t gp1_wdata;
    uint32_t gp1_araddr;
    uint32_t sgp0_rdata;
    uint16_t gp0_awid;
    uint16_t gp0_wid;
    uint16_t gp0_arid;
    uint16_t link_rx_phase[KAIROS_PL_MAX_LINKS]; /* of the recovered receive clock, in 1/4096 cycle */
    uint8_t gp0_awvalid;
    uint8_t gp0_awlen;
    uint8_t gp0_awsize;
    uint8_t gp0_awburst;
    uint8_t gp0_wvalid;
    uint8_t gp0_wstrb;
    uint8_t gp0_wlast;
    uint8_t gp0_bready;
    uint8_t gp0_arvalid;
    uint8_t gp0_arlen;
    uint8_t gp0_arsize;
    uint8_t gp0_arburst;
    uint8_t gp0_rready;
    uint8_t gp1_awvalid;
    uint8_t gp1_awlen;
    uint8_t gp1_wvalid;
    uint8_t gp1_wstrb;
    uint8_t gp1_wlast;
    uint8_t gp1_bready;
    uint8_t gp1_arvalid;
    uint8_t gp1_arlen;
    uint8_t gp1_rready;
    uint8_t sgp0_arready;
    uint8_t sgp0_rvalid;
    uint8_t sgp0_rresp;
    uint8_t sgp0_awready;
    uint8_t sgp0_wready;
    uint8_t sgp0_bvalid;
    uint8_t sgp0_bresp;
    uint8_t acp_arready;
    uint8_t acp_rvalid;
    uint8_t acp_rid;
    uint8_t acp_rlast;
    uint8_t acp_rresp;
    uint8_t acp_awready;
    uint8_t acp_wready;
    uint8_t acp_bvalid;
    uint8_t acp_bid;
    uint8_t acp_bresp;
    uint8_t hp0_arready;
    uint8_t hp0_rvalid;
    uint8_t hp0_rlast;
    uint8_t hp0_rresp;
    uint8_t hp0_awready;
    uint8_t hp0_wready;
    uint8_t hp0_bvalid;
    uint8_t hp0_bresp;
    uint8_t event_o;
    uint8_t sim_tsc_load;
    uint8_t link_rx_valid; /* one bit per link */
    uint8_t link_rx_up; /* one bit per link: the line carries words */
    uint8_t pads_i[KAIROS_PL_MAX_PADS]; /* 8 samples of 1 ns each, bit 0 first */
} kairos_pl_in;

/* From the logic to the processing system (and the simulation), during one cycle. */
typedef struct kairos_pl_out {
    uint64_t sim_tsc;
    uint64_t sim_next_due;
    uint64_t acp_wdata;
    uint64_t hp0_wdata;
    uint64_t emio_i;
    uint64_t link_tx_word[KAIROS_PL_MAX_LINKS]; /* of the next cycle: words are registered, so they are known in advance */
    uint32_t gp0_rdata;
    uint32_t gp1_rdata;
    uint32_t acp_araddr;
    uint32_t acp_awaddr;
    uint32_t hp0_araddr;
    uint32_t hp0_awaddr;
    uint32_t sgp0_araddr;
    uint32_t sgp0_awaddr;
    uint32_t sgp0_wdata;
    uint16_t gp0_bid;
    uint16_t gp0_rid;
    uint16_t irq_f2p;
    uint8_t gp0_awready;
    uint8_t gp0_wready;
    uint8_t gp0_bvalid;
    uint8_t gp0_bresp;
    uint8_t gp0_arready;
    uint8_t gp0_rvalid;
    uint8_t gp0_rlast;
    uint8_t gp0_rresp;
    uint8_t gp1_awready;
    uint8_t gp1_wready;
    uint8_t gp1_bvalid;
    uint8_t gp1_bresp;
    uint8_t gp1_arready;
    uint8_t gp1_rvalid;
    uint8_t gp1_rlast;
    uint8_t gp1_rresp;
    uint8_t sgp0_arvalid;
    uint8_t sgp0_arsize;
    uint8_t sgp0_rready;
    uint8_t sgp0_awvalid;
    uint8_t sgp0_awsize;
    uint8_t sgp0_wvalid;
    uint8_t sgp0_wstrb;
    uint8_t sgp0_bready;
    uint8_t acp_arvalid;
    uint8_t acp_arid;
    uint8_t acp_arlen;
    uint8_t acp_rready;
    uint8_t acp_awvalid;
    uint8_t acp_awid;
    uint8_t acp_awlen;
    uint8_t acp_wvalid;
    uint8_t acp_wstrb;
    uint8_t acp_wlast;
    uint8_t acp_bready;
    uint8_t hp0_arvalid;
    uint8_t hp0_arlen;
    uint8_t hp0_rready;
    uint8_t hp0_awvalid;
    uint8_t hp0_awlen;
    uint8_t hp0_wvalid;
    uint8_t hp0_wstrb;
    uint8_t hp0_wlast;
    uint8_t hp0_bready;
    uint8_t event_i;
    uint8_t sim_quiet;
    uint8_t link_tx_valid; /* one bit per link, of the next cycle as well */
    uint8_t pads_o[KAIROS_PL_MAX_PADS]; /* 8 samples of 1 ns each, bit 0 first */
    uint8_t pads_oe[KAIROS_PL_MAX_PADS]; /* 0 or 1 */
} kairos_pl_out;

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kairos_pl kairos_pl;

/* KAIROS_PL_ABI of the library. */
uint32_t kairos_pl_abi(void);

/* JSON text: {"variant": str, "pads": [{"index": int, "name": str, "channel": int, "direction": "out"|"in"|"inout"}],
 * "rtio_frequency": int, "fine_bits": int, "clocks": {name: [pad]}, "outputs": [{"name": str, "channel": int, "output":
 * int}], "waveforms": [{"kind": "shuttler"|"songbird"|"mtdds", "name": str, "channel": int, "outputs": int,
 * "parameters": {name: int}, if it has any}], "samples_per_cycle": int, "links": [name], "window": bool: port GP1 is in
 * use}. Owned by the library. */
const char *kairos_pl_info(void);

/* A new instance after power-up reset, or null when out of memory. */
kairos_pl *kairos_pl_new(void);

/* Ends an instance. */
void kairos_pl_free(kairos_pl *pl);

/* One clock cycle: apply `in`, settle, report in `out` the outputs during this cycle, then the rising edge. A handshake
 * happens in this cycle when valid and ready are both set in it. */
void kairos_pl_cycle(kairos_pl *pl, const kairos_pl_in *in, kairos_pl_out *out);

/* Up to `n` cycles with constant inputs. Stops after the first cycle in which a valid, event, interrupt, quiet or pad
 * output differs from the cycle before, in which sim_tsc reaches `until_tsc`, or after which a word leaves on a link.
 * Returns the number of cycles run; `out` holds the last one's outputs. */
uint64_t kairos_pl_run(kairos_pl *pl, const kairos_pl_in *in, kairos_pl_out *out, uint64_t n, uint64_t until_tsc);

/* Reads a register through GP0 (`size`: log2 of its bytes; `word`: receives the data, in its byte lanes) while the logic is
 * quiescent, with the same result as kairos_pl_cycle, but clocks only the register bus: the counter lags by the returned
 * number of cycles, in which no other output changes. The caller guarantees that no input changes and nothing is due in
 * the next 16. Returns 0 without effect if the logic is not quiet, or if reads may have effects (a board with links). */
uint32_t kairos_pl_read(kairos_pl *pl, uint32_t address, uint32_t size, uint32_t *word);

/* Sets whether all clocks run in every cycle, including those of idle parts. The default is off, which is faster and has
 * identical outputs. Returns the number of cycles in which only the clocks of pulse cores ran; `engines`: the part of
 * these in which only the engines' ran. */
uint64_t kairos_pl_together(kairos_pl *pl, int together, uint64_t *engines);

/* The output of the pulse cores, Shuttlers and Songbirds since the instance was created, in the format of
 * docs/interfaces.md. Returns the number of words; they are valid until the next cycle. `complete`: 0 if there was no room
 * for all. A library without any of these may lack it. */
uint64_t kairos_pl_shown(const kairos_pl *pl, const uint64_t **words, uint32_t *complete);

#ifdef __cplusplus
}
#endif

#endif
