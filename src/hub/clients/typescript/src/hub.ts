/**
 * A client of a Kairos hub: the registers of a laboratory's core devices, over gRPC.
 *
 *     const lab = connect("localhost:1390");
 *     const { values } = await lab.registers.read({ device: "zc706", registers: ["rtio/async_error"] });
 *
 * docs/hub-api.md describes the services; `protocol/` is generated from the same protocol. Failed calls reject with a
 * `ConnectError`, whose `code` is the gRPC status code.
 */

import { readFileSync } from "node:fs";
import { createConnection } from "node:net";

import { createClient, type Client, type Interceptor } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";

import { Buses, Memory } from "./protocol/kairos/hub/v1/buses_pb.js";
import { Clocks } from "./protocol/kairos/hub/v1/clocks_pb.js";
import { Channels, Devices, Monitor, Plugins, Registers } from "./protocol/kairos/hub/v1/hub_pb.js";
import { Waveforms } from "./protocol/kairos/hub/v1/waveforms_pb.js";

export * from "./protocol/kairos/hub/v1/buses_pb.js";
export * from "./protocol/kairos/hub/v1/clocks_pb.js";
export * from "./protocol/kairos/hub/v1/hub_pb.js";
export * from "./protocol/kairos/hub/v1/waveforms_pb.js";
export * as step from "./step.js";
export { Code, ConnectError } from "@connectrpc/connect";

/** Credentials of the client, and TLS. */
export interface Options {
  /** Token of this client, if the hub requires one. */
  token?: string;
  /** PEM file with the certificate of a hub that uses TLS, or of its certificate authority. */
  certificate?: string;
}

/** The services of a hub. */
export interface Lab {
  devices: Client<typeof Devices>;
  registers: Client<typeof Registers>;
  channels: Client<typeof Channels>;
  monitor: Client<typeof Monitor>;
  plugins: Client<typeof Plugins>;
  buses: Client<typeof Buses>;
  clocks: Client<typeof Clocks>;
  waveforms: Client<typeof Waveforms>;
  memory: Client<typeof Memory>;
}

/**
 * Connects to the hub at a host and port, or at the Unix socket given to plugins in `KAIROS_HUB`. Connection errors are
 * reported by the first call.
 */
export function connect(address: string, { token, certificate }: Options = {}): Lab {
  const showToken: Interceptor = (next) => (request) => {
    request.header.set("authorization", `Bearer ${token}`);
    return next(request);
  };
  const socket = address.startsWith("unix:") ? address.slice("unix:".length) : undefined;
  const transport = createGrpcTransport({
    baseUrl: `${certificate === undefined ? "http" : "https"}://${socket === undefined ? address : "localhost"}`,
    nodeOptions: {
      ...(certificate === undefined ? {} : { ca: readFileSync(certificate) }),
      ...(socket === undefined ? {} : { createConnection: () => createConnection(socket) }),
    },
    interceptors: token === undefined ? [] : [showToken],
  });
  return {
    devices: createClient(Devices, transport),
    registers: createClient(Registers, transport),
    channels: createClient(Channels, transport),
    monitor: createClient(Monitor, transport),
    plugins: createClient(Plugins, transport),
    buses: createClient(Buses, transport),
    clocks: createClient(Clocks, transport),
    waveforms: createClient(Waveforms, transport),
    memory: createClient(Memory, transport),
  };
}
