/**
 * Searches for the setting at which a phase-locked loop locks: 1,000 steps executed next to the hardware, in one round
 * trip:
 *
 *     node dist/examples/calibrate.js localhost:1390 zc706
 *
 * The registers are `scratch`, which every gateware provides for experiments: they keep what is written, as if the loop
 * locked with every setting. Replace them by those of your own block.
 *
 * The token is taken from KAIROS_HUB_TOKEN, the certificate of a hub with TLS from KAIROS_HUB_CERTIFICATE.
 */

import { ConnectError, connect, step, type Lab } from "../hub.js";

const SETTINGS = 250;
const CONTROL = "scratch/word";
const STATUS = CONTROL;
const FREQUENCY = "scratch/wide";
/** Starts the loop; the lower bits contain the setting. */
const START = 0x8000_0000;
/** Status of a locked loop; the lower bits contain the setting. */
const LOCKED = START;
/** 10 MHz from 125 MHz, in units of 2^-64. */
const TUNING = 0x147a_e147_ae14_7ae1n;

async function calibrate(address: string, device: string): Promise<void> {
  const { KAIROS_HUB_TOKEN: token, KAIROS_HUB_CERTIFICATE: certificate } = process.env;
  const lab = connect(address, { token, certificate });
  const attempt = [
    step.write(CONTROL, 0, 1),
    step.modify(CONTROL, START, START),
    step.poll(CONTROL, START, START, 1000),
    step.read(STATUS),
  ];
  const started = performance.now();
  const results = await run(lab, device, [step.loop(SETTINGS, ...attempt)]);
  const took = performance.now() - started;
  // Each status is preceded by the value read by the poll.
  const { count, setting } = middle(results.filter((_, at) => at % 2 === 1));

  const [status, high = 0, low = 0] = await run(lab, device, [
    step.write(CONTROL, START + setting),
    step.write(FREQUENCY, TUNING),
    step.read(STATUS),
    step.read(FREQUENCY),
  ]);
  if (status !== LOCKED + setting || ((BigInt(high) << 32n) | BigInt(low)) !== TUNING) {
    throw new Error(`it does not lock with setting ${setting}`);
  }
  console.log(`${count} of ${SETTINGS} settings lock; ${setting}, in their middle, is set`);
  const steps = SETTINGS * attempt.length;
  console.log(`${steps} steps as one batch: ${((1000 * took) / steps).toFixed(1)} us each`);
}

/** Runs a program; returns its results. */
async function run(lab: Lab, device: string, steps: step.Step[]): Promise<number[]> {
  const { done, error, results } = await lab.registers.run({ device, steps });
  if (!done) {
    throw new Error(error);
  }
  return results;
}

/** The number of settings that lock, and the middle of the longest run of them. */
function middle(statuses: number[]): { count: number; setting: number } {
  let [count, begin, longest, best] = [0, 0, 0, 0];
  for (const [setting, status] of statuses.entries()) {
    if (status !== LOCKED + setting) {
      begin = setting + 1;
      continue;
    }
    count += 1;
    const length = setting + 1 - begin;
    if (length > longest) {
      [longest, best] = [length, begin + Math.floor(length / 2)];
    }
  }
  return { count, setting: best };
}

const [address, device] = process.argv.slice(2);
if (address === undefined || device === undefined) {
  console.error("usage: calibrate HOST:PORT DEVICE");
  process.exit(2);
}
try {
  await calibrate(address, device);
} catch (error) {
  console.error(`calibrate: ${error instanceof ConnectError ? error.rawMessage : error}`);
  process.exitCode = 1;
}
