// Calls of the laboratory's methods.

import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcWebTransport } from "@connectrpc/connect-web";
import { Alarms } from "../protocol/kairos/lab/v1/alarms_pb";
import { Calibrations } from "../protocol/kairos/lab/v1/calibrations_pb";
import { Datasets, Parameters } from "../protocol/kairos/lab/v1/datasets_pb";
import { Devices } from "../protocol/kairos/lab/v1/devices_pb";
import { Fits } from "../protocol/kairos/lab/v1/fits_pb";
import { Experiments, Laboratory, Queue } from "../protocol/kairos/lab/v1/lab_pb";
import { Layouts } from "../protocol/kairos/lab/v1/layouts_pb";
import { Logbook } from "../protocol/kairos/lab/v1/logbook_pb";
import { Runs } from "../protocol/kairos/lab/v1/runs_pb";

/** Milliseconds after which a call is given up. */
const LONGEST = 30_000;

const transport = createGrpcWebTransport({ baseUrl: location.origin, defaultTimeoutMs: LONGEST });

export const calls = {
  laboratory: createClient(Laboratory, transport),
  experiments: createClient(Experiments, transport),
  queue: createClient(Queue, transport),
  datasets: createClient(Datasets, transport),
  parameters: createClient(Parameters, transport),
  alarms: createClient(Alarms, transport),
  calibrations: createClient(Calibrations, transport),
  devices: createClient(Devices, transport),
  layouts: createClient(Layouts, transport),
  logbook: createClient(Logbook, transport),
  fits: createClient(Fits, transport),
  runs: createClient(Runs, transport),
};

/** Whether a call was refused because of who the browser is. */
export function isRefused(error: unknown): boolean {
  return error instanceof ConnectError && (error.code === Code.Unauthenticated || error.code === Code.PermissionDenied);
}

/** Whether a call was given up because no answer came. */
export function isLate(error: unknown): boolean {
  return error instanceof ConnectError && error.code === Code.DeadlineExceeded;
}

/** What a message says of a number that does not fit into its field. */
const UNFIT = /cannot encode field [\w.]+\.(\w+) to binary: .*invalid u?int(?:32|64): (.*)$/;

/** The text of an error, for people. */
export function reason(error: unknown): string {
  const [, field, given] = UNFIT.exec(error instanceof Error ? error.message : "") ?? [];
  if (field) return `${field.replaceAll("_", " ")} cannot be ${given}: give a whole number that is not as large`;
  if (isLate(error)) return `the laboratory has not answered within ${LONGEST / 1000} s: what was asked for is done or not`;
  if (error instanceof ConnectError) return error.rawMessage;
  return error instanceof Error ? error.message : String(error);
}
