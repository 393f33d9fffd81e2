/**
 * 1,000 register accesses beside the hardware, in one round trip:
 *
 *     node dist/examples/calibrate.js localhost:1390 zc706
 *
 * A token is taken from KAIROS_HUB_TOKEN, the certificate of a hub with TLS from KAIROS_HUB_CERTIFICATE.
 */

import { ConnectError, connect, step } from "../hub.js";

const ROUNDS = 250;
/** What each round looks at: all are 0 where nothing is wrong and nothing under way. */
const LOOKS = ["rtio/async_error", "initiator/lost", "initiator/busy", "dma/busy"];

async function calibrate(address: string, device: string): Promise<void> {
  const { KAIROS_HUB_TOKEN: token, KAIROS_HUB_CERTIFICATE: certificate } = process.env;
  const lab = connect(address, { token, certificate });
  const started = performance.now();
  const answer = await lab.registers.run({ device, steps: [step.loop(ROUNDS, ...LOOKS.map(step.read))] });
  const took = performance.now() - started;
  if (!answer.done) {
    throw new Error(answer.error);
  }
  let atRest = 0;
  for (let at = 0; at < answer.results.length; at += LOOKS.length) {
    atRest += Number(answer.results.slice(at, at + LOOKS.length).every((value) => value === 0));
  }
  console.log(`${atRest} of ${ROUNDS} rounds found everything at rest`);
  const accesses = answer.results.length;
  console.log(`${accesses} accesses as one batch: ${((1000 * took) / accesses).toFixed(1)} us each`);
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
