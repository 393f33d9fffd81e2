// What the page knows: who uses it, and the newest state of what it follows.

import { SvelteMap } from "svelte/reactivity";
import { Applets, Datasets, type Applet, type Dataset } from "../protocol/kairos/lab/v1/datasets_pb";
import { Fits, type DeclaredFit } from "../protocol/kairos/lab/v1/fits_pb";
import { Experiments, Queue, type Experiment, type ExperimentProblem, type Lock, type Question, type QueuedRun } from "../protocol/kairos/lab/v1/lab_pb";
import { Log, type LogRecord } from "../protocol/kairos/lab/v1/runs_pb";
import { describe } from "./arguments";
import { calls, isLate, isRefused, reason } from "./calls";
import { setClock } from "./clock";
import { follow, live } from "./live";
import { ordered } from "./tree";
import { duration, named, readable } from "./values";

export interface Session {
  name: string | null;
  role: "view" | "operate" | "administer" | null;
  /** Whether the hub has tokens. */
  login: boolean;
  laboratory: boolean;
}

const LOG = 2000;
/** Milliseconds between questions whether the hub answers, and to whom: a connection that was cut does not say so. */
const ASK = 3000;
/** Milliseconds until a hub or a laboratory that does not answer is lost. */
const TIMEOUT = 5000;
/** What is said of a laboratory that is there, but does nothing. */
const SILENT = "the laboratory does not answer: it is stopped, or has too much to do";

export const lab = $state({
  session: undefined as Session | undefined,
  /** Whether the hub answers. */
  connected: false,
  /** Why the laboratory does not answer; empty if it does. */
  offline: "",
  name: "",
  folder: "",
  experiments: [] as Experiment[],
  problems: [] as ExperimentProblem[],
  scanning: false,
  revision: "",
  queue: [] as QueuedRun[],
  questions: [] as Question[],
  locks: [] as Lock[],
  /** Number of runs that have ended. */
  ended: 0n,
  /** Changes with the tags, notes and fits of those. */
  noted: 0n,
  applets: [] as Applet[],
  /** Fits that experiments in progress have declared. */
  fits: [] as DeclaredFit[],
  log: [] as (LogRecord & { id: number })[],
  /** What has been told at least once: before that, that there is nothing is not known. */
  known: { experiments: false, queue: false, datasets: false, log: false },
  /** What is told to the user: failures and confirmations. */
  notice: undefined as { text: string; failed: boolean } | undefined,
});

export const datasets = new SvelteMap<string, Dataset>();

/** Their names in order; a value that changes does not change it. */
class Names {
  all = $state.raw<string[]>([]);
}
export const names = new Names();

/** Why the user may not change anything; empty if they may. */
export function forbidden(): string {
  if (!lab.connected) return "the hub does not answer";
  if (lab.offline) return lab.offline;
  return lab.session?.role === "view" ? "your token may only view" : "";
}

type Submitted = { file: string; className: string; arguments: Record<string, string> };

/** What the arguments of a run are to its experiment, in its order; empty if the experiment is not known. */
function declared(run: Omit<Submitted, "arguments">) {
  return lab.experiments.find((each) => each.className === run.className && run.file.endsWith(each.file))?.arguments ?? [];
}

/** An argument of a run for people, in its unit if the experiment is known. */
export function argumentText(run: Omit<Submitted, "arguments">, name: string, pyon: string): string {
  const argument = declared(run).find((each) => each.name === name);
  const { unit = "", scale = 1 } = argument ? describe(argument) : {};
  return readable(pyon, unit, scale || 1);
}

/** The arguments of a run for people, in the experiment's order, then those that it does not know: on their way, maps have
 * no order. */
export function argumentsOf(run: Submitted): { name: string; text: string }[] {
  const places = new Map(declared(run).map(({ name }, place) => [name, place]));
  const place = (name: string) => places.get(name) ?? places.size;
  return named(run.arguments)
    .sort(([a], [b]) => place(a) - place(b))
    .map(([name, value]) => ({ name, text: argumentText(run, name, value) }));
}

let timer: ReturnType<typeof setTimeout> | undefined;

export function notify(text: string, failed = false): void {
  lab.notice = { text, failed };
  clearTimeout(timer);
  timer = setTimeout(() => (lab.notice = undefined), failed ? 10_000 : 4_000);
}

/** Copies an address of this page to the clipboard, or shows it where that is not allowed. */
export async function copyLink(query: string): Promise<void> {
  const link = `${location.origin}/?${query}`;
  try {
    await navigator.clipboard.writeText(link);
    notify(`copied: ${link}`);
  } catch {
    notify(link);
  }
}

/** Does something that may fail, and says so. Returns undefined if it has failed. */
export async function attempt<T>(work: () => Promise<T>, done?: (result: T) => string): Promise<T | undefined> {
  try {
    const result = await work();
    if (done) notify(done(result));
    return result;
  } catch (error) {
    // Who has logged out elsewhere, or is somebody else now, is told by the page.
    if (isRefused(error)) void checkLogin();
    notify(reason(error), true);
    return undefined;
  }
}

/** Other windows of this browser, which are told when somebody logs in or out. */
const others = new BroadcastChannel("session");

async function session(): Promise<Session> {
  const found = await fetch("/session", { signal: AbortSignal.timeout(TIMEOUT) });
  const difference = setClock(found.headers.get("date"));
  if (difference) notify(`this computer's clock is ${duration(Math.abs(difference))} ${difference > 0 ? "behind" : "ahead of"} the laboratory's, whose times are shown`);
  return (await found.json()) as Session;
}

export async function start(): Promise<void> {
  take(await session());
  live.listeners.add((open) => {
    lab.connected = open;
    // A token may have been removed while the hub was away.
    void checkLogin();
  });
  others.onmessage = () => void checkLogin();
  const ask = async () => {
    if (lab.session?.role) await checkLogin();
    if (isFollowing && lab.connected) await checkLaboratory();
    setTimeout(ask, ASK);
  };
  setTimeout(ask, ASK);
  window.addEventListener("offline", () => void checkLogin());
}

let isFollowing = false;
/** Who has used this page. */
let user: string | null = null;

/** Goes on as who is logged in: with the rights of that person, or as nobody. */
function take(now: Session): void {
  const before = lab.session;
  if (JSON.stringify(before) === JSON.stringify(now)) return;
  // What one person has entered is not the next one's.
  if (user && now.name && user !== now.name) return location.reload();
  user = now.name ?? user;
  lab.session = now;
  if (!now.role) return live.stop();
  if (lab.connected) live.drop();
  else live.start();
  if (!now.laboratory || isFollowing) return;
  isFollowing = true;
  followAll();
}

/** Number of the newest question: answers may overtake each other. */
let asked = 0;

/** Asks who is logged in, which may have changed elsewhere. */
async function checkLogin(): Promise<void> {
  const mine = ++asked;
  try {
    const now = await session();
    if (mine === asked) take(now);
  } catch {
    if (mine === asked && lab.connected) live.drop();
  }
}

/** Asks whether the laboratory is alive: its streams, and the hub's connection to it, do not say it while nothing happens. */
async function checkLaboratory(): Promise<void> {
  try {
    await calls.laboratory.status({}, { timeoutMs: TIMEOUT });
    if (lab.offline === SILENT) lab.offline = "";
  } catch (error) {
    if (isLate(error) && lab.connected) lab.offline ||= SILENT;
  }
}

export async function login(token: string): Promise<string> {
  const answer = await fetch("/login", { method: "POST", body: token }).catch(() => undefined);
  if (!answer?.ok) return answer ? await answer.text() : "the hub does not answer";
  await checkLogin();
  others.postMessage("");
  return "";
}

export async function logout(): Promise<void> {
  await fetch("/logout", { method: "POST" });
  others.postMessage("");
  location.reload();
}

function followAll(): void {
  const fail = (text: string) => {
    if (lab.offline && !text) void greet();
    // What is said to who calls is of no use to who only follows.
    lab.offline = text.replace(/, then look .*/, "");
  };
  void greet();
  follow(Experiments.method.follow, {}, (now) => {
    lab.known.experiments = true;
    lab.experiments = now.experiments;
    lab.problems = now.problems;
    lab.scanning = now.scanning;
    lab.revision = now.revision;
  });
  follow(
    Queue.method.follow,
    {},
    (now) => {
      lab.known.queue = true;
      lab.queue = now.runs;
      lab.questions = now.questions;
      lab.locks = now.locks;
      lab.ended = now.ended;
      lab.noted = now.noted;
    },
    fail,
  );
  follow(Applets.method.follow, {}, (now) => (lab.applets = now.applets));
  follow(Fits.method.declared, {}, (now) => (lab.fits = now.fits));
  follow(Datasets.method.follow, { periodMs: 250 }, (now) => {
    lab.known.datasets = true;
    let others = now.init;
    if (now.init) datasets.clear();
    for (const { key, change } of now.changes) {
      others ||= change.case === "deleted" || !datasets.has(key);
      if (change.case === "deleted") datasets.delete(key);
      else if (change.case === "set") datasets.set(key, change.value);
    }
    if (others) names.all = ordered(datasets.keys());
  });
  let id = 0;
  let again = false;
  follow(
    Log.method.follow,
    { newest: 500 },
    (now) => {
      lab.known.log = true;
      const records = now.records.map((record) => Object.assign(record, { id: id++ }));
      // After a reconnection the newest records come again.
      lab.log = (again ? records : [...lab.log, ...records]).slice(-LOG);
      again = false;
    },
    (text) => (again ||= text !== ""),
  );
}

async function greet(): Promise<void> {
  const status = await calls.laboratory.status({}).catch(() => undefined);
  if (!status) return;
  lab.name = status.name;
  lab.folder = status.folder;
  document.title = `${status.name} – Kairos`;
}
