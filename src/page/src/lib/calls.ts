// Calls of the laboratory's methods.

import { ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcWebTransport } from "@connectrpc/connect-web";
import { Datasets, Parameters } from "../protocol/kairos/lab/v1/datasets_pb";
import { Experiments, Laboratory, Queue } from "../protocol/kairos/lab/v1/lab_pb";
import { Runs } from "../protocol/kairos/lab/v1/runs_pb";

const transport = createGrpcWebTransport({ baseUrl: location.origin, defaultTimeoutMs: 30_000 });

export const calls = {
  laboratory: createClient(Laboratory, transport),
  experiments: createClient(Experiments, transport),
  queue: createClient(Queue, transport),
  datasets: createClient(Datasets, transport),
  parameters: createClient(Parameters, transport),
  runs: createClient(Runs, transport),
};

/** The text of an error, for people. */
export function reason(error: unknown): string {
  if (error instanceof ConnectError) return error.rawMessage;
  return error instanceof Error ? error.message : String(error);
}
