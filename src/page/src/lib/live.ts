// Streams of the hub over one WebSocket: `follow` calls a method and keeps calling it, whatever is
// started again on the way. A response is sent only against credit, which is given when the page has
// drawn what it got, or after a while: a hidden or slow page is sent less.

import { create, fromBinary, toBinary, type DescMessage, type DescMethodServerStreaming, type MessageInitShape, type MessageShape } from "@bufbuild/protobuf";
import { LiveRequestSchema, LiveResponseSchema } from "../protocol/kairos/hub/v1/live_pb";
import { lengthOf } from "./texts";

const CREDIT = 2;
/** Milliseconds until the next attempt, the second one and later ones. */
const AGAIN = [100, 500, 1000];
/** Milliseconds after which a hidden page, which draws nothing, is sent more. */
const HIDDEN = 1000;
/** Milliseconds in which a connection is made, or given up. */
const CONNECT = 5000;
/** Bytes of the longest request: the hub takes no message of more than 1 MiB from a page. */
const LONGEST = (1 << 20) - 1000;
const UNAUTHENTICATED = 16;
const UNIMPLEMENTED = 12;
const PERMISSION_DENIED = 7;

interface Stream {
  method: string;
  request: Uint8Array;
  take: (message: Uint8Array) => void;
  fail: (text: string) => void;
}

type Listener = (open: boolean) => void;

class Live {
  private socket: WebSocket | undefined;
  private number = 0;
  private attempts = 0;
  private again: ReturnType<typeof setTimeout> | undefined;
  private patience: ReturnType<typeof setTimeout> | undefined;
  private readonly streams = new Map<number, Stream>();
  private readonly waiting = new Set<Stream>();
  /** Those that were refused: the next connection may have other rights, or lead to another hub. */
  private readonly refused = new Set<Stream>();
  readonly listeners = new Set<Listener>();

  start(): void {
    if (this.socket) return;
    const socket = new WebSocket(`${location.origin.replace(/^http/, "ws")}/live`);
    socket.binaryType = "arraybuffer";
    this.socket = socket;
    this.patience = setTimeout(() => this.drop(), CONNECT);
    socket.onopen = () => {
      clearTimeout(this.patience);
      this.attempts = 0;
      for (const stream of this.waiting) this.call(stream);
      this.waiting.clear();
      this.report(true);
    };
    socket.onmessage = (event) => this.take(new Uint8Array(event.data as ArrayBuffer));
    socket.onclose = () => this.drop();
  }

  /** Gives up a connection, which may not say itself that it is none any more, and makes another one. */
  drop(): void {
    this.stop();
    this.again = setTimeout(() => this.start(), AGAIN[Math.min(this.attempts++, AGAIN.length - 1)]);
  }

  /** Ends the connection until `start`. */
  stop(): void {
    clearTimeout(this.patience);
    clearTimeout(this.again);
    const { socket } = this;
    this.socket = undefined;
    if (socket) {
      socket.onopen = socket.onmessage = socket.onclose = null;
      socket.close();
    }
    for (const stream of [...this.streams.values(), ...this.refused]) this.waiting.add(stream);
    this.streams.clear();
    this.refused.clear();
    this.report(false);
  }

  /** Calls a method until the returned function is called. */
  follow(stream: Stream): () => void {
    this.call(stream);
    return () => {
      this.waiting.delete(stream);
      this.refused.delete(stream);
      for (const [number, known] of this.streams) {
        if (known !== stream) continue;
        this.streams.delete(number);
        this.send(number, { case: "cancel", value: true });
      }
    };
  }

  private call(stream: Stream): void {
    if (stream.request.length > LONGEST) {
      // It would end the connection, and with that all other streams.
      this.refused.add(stream);
      queueMicrotask(() => this.refused.has(stream) && stream.fail(`this is too long to be asked for: ${lengthOf(stream.request.length)}, at most 1 MB`));
      return;
    }
    if (this.socket?.readyState !== WebSocket.OPEN) {
      this.waiting.add(stream);
      return;
    }
    const number = ++this.number;
    this.streams.set(number, stream);
    this.send(number, { case: "call", value: { method: stream.method, request: stream.request, credit: CREDIT } });
  }

  private send(stream: number, action: MessageInitShape<typeof LiveRequestSchema>["action"]): void {
    if (this.socket?.readyState !== WebSocket.OPEN) return;
    this.socket.send(toBinary(LiveRequestSchema, create(LiveRequestSchema, { stream, action })) as Uint8Array<ArrayBuffer>);
  }

  private take(bytes: Uint8Array): void {
    const { stream: number, event } = fromBinary(LiveResponseSchema, bytes);
    const stream = this.streams.get(number);
    if (!stream) return;
    if (event.case === "message") {
      stream.take(event.value);
      drawn(() => this.send(number, { case: "credit", value: 1 }));
      return;
    }
    this.streams.delete(number);
    const { code, text } = event.value ?? { code: 0, text: "" };
    const isFinal = code === UNIMPLEMENTED || code === PERMISSION_DENIED || code === UNAUTHENTICATED;
    // Whoever is told may end it.
    (isFinal ? this.refused : this.waiting).add(stream);
    stream.fail(text);
    if (isFinal) return;
    setTimeout(() => {
      if (this.waiting.delete(stream)) this.call(stream);
    }, 500);
  }

  private report(open: boolean): void {
    for (const listener of this.listeners) listener(open);
  }
}

/** Does something once the page has drawn what it got. */
function drawn(work: () => void): void {
  const done = () => {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
    work();
  };
  const frame = requestAnimationFrame(done);
  const timer = setTimeout(done, HIDDEN);
}

export const live = new Live();

/** Follows a method that returns a stream. `fail` is told why there is nothing at present, and ""
 * after it has worked again. Returns a function that ends it. */
export function follow<I extends DescMessage, O extends DescMessage>(
  method: DescMethodServerStreaming<I, O>,
  request: MessageInitShape<I>,
  take: (message: MessageShape<O>) => void,
  fail: (text: string) => void = () => {},
): () => void {
  return live.follow({
    method: `/${method.parent.typeName}/${method.name}`,
    request: toBinary(method.input, create(method.input, request)),
    take: (message) => {
      fail("");
      take(fromBinary(method.output, message));
    },
    fail,
  });
}
