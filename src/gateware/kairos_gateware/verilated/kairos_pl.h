/* The programmable logic as a shared library: the C interface between the verilated gateware and the emulator.
 *
 * The signals are those of the processing system's ports, see docs/interfaces.md section 6. All fields hold one
 * clock cycle's value of the port of the same name; single-bit signals are 0 or 1 in a byte.
 * The structures of these fields are in kairos_pl_ports.h.
 */
#ifndef KAIROS_PL_H
#define KAIROS_PL_H

#include <stdint.h>

#include "kairos_pl_ports.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kairos_pl kairos_pl;

/* KAIROS_PL_ABI of the library. */
uint32_t kairos_pl_abi(void);

/* JSON text: {"variant": str, "pads": [{"index": int, "name": str, "channel": int, "direction": "out"|"in"|"inout"}],
 * "rtio_frequency": int, "fine_bits": int, "clocks": {name: [pad]}, "outputs": [{"name": str, "channel": int, "output":
 * int}], "waveforms": [{"kind": "shuttler"|"songbird"|"mtdds", "name": str, "channel": int, "outputs": int,
 * "parameters": {name: int}, if it has any}],
 * "samples_per_cycle": int, "links": [name], "window": bool: port GP1 is in use}. Owned by the library. */
const char *kairos_pl_info(void);

/* A new instance after power-up reset, or null when out of memory. */
kairos_pl *kairos_pl_new(void);
void kairos_pl_free(kairos_pl *pl);

/* One clock cycle: apply `in`, settle, report in `out` the outputs during this cycle, then the rising edge.
 * A handshake happens in this cycle when valid and ready are both set in it. */
void kairos_pl_cycle(kairos_pl *pl, const kairos_pl_in *in, kairos_pl_out *out);

/* Up to `n` cycles with constant inputs. Stops after the first cycle in which a valid, event,
 * interrupt, quiet or pad output differs from the cycle before, in which sim_tsc reaches `until_tsc`,
 * or after which a word leaves on a link. Returns the number of cycles run; `out` holds the last one's
 * outputs. */
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

/* The output of the pulse cores, Shuttlers and Songbirds since the instance was created, in the format of docs/interfaces.md. Returns the number
 * of words; they are valid until the next cycle. `complete`: 0 if there was no room for all. */
uint64_t kairos_pl_shown(const kairos_pl *pl, const uint64_t **words, uint32_t *complete);

#ifdef __cplusplus
}
#endif

#endif
