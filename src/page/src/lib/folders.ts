// The experiments as the folders of their repository, of which a browser remembers which ones are closed.

import type { Experiment } from "../protocol/kairos/lab/v1/lab_pb";
import { ordered } from "./tree";

export interface Folder {
  /** Its path, with a slash at the end; empty: the repository. */
  path: string;
  name: string;
  folders: Folder[];
  experiments: { name: string; experiment: Experiment }[];
  /** Experiments in it and below it. */
  count: number;
}

const made = (path: string, name: string): Folder => ({ path, name, folders: [], experiments: [], count: 0 });

/** The repository. The name of an experiment has its folders before slashes. */
export function planted(experiments: readonly Experiment[]): Folder {
  const root = made("", "");
  const known = new Map([["", root]]);
  const byName = new Map(experiments.map((each) => [each.name, each]));
  for (const name of ordered(byName.keys())) {
    const parts = name.split("/");
    let folder = root;
    folder.count++;
    for (const part of parts.slice(0, -1)) {
      const path = `${folder.path}${part}/`;
      let next = known.get(path);
      if (!next) {
        known.set(path, (next = made(path, part)));
        folder.folders.push(next);
      }
      folder = next;
      folder.count++;
    }
    folder.experiments.push({ name: parts.at(-1)!, experiment: byName.get(name)! });
  }
  return root;
}

const KEPT = "closed folders";

/** The folders that this browser has closed. */
export function closedFolders(): string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEPT) ?? "[]");
    return Array.isArray(kept) ? kept.filter((each) => typeof each === "string") : [];
  } catch {
    return [];
  }
}

export function keepClosedFolders(paths: readonly string[]): void {
  localStorage.setItem(KEPT, JSON.stringify(paths));
}

/** What a key means in a list of buttons, of which those of folders say whether they are open; false: nothing. */
export function moveInList(list: HTMLElement, key: string): boolean {
  const items = [...list.querySelectorAll<HTMLButtonElement>("button.item")];
  const at = items.findIndex((each) => each === document.activeElement);
  const item = items[at];
  const expanded = item?.getAttribute("aria-expanded");
  const above = () => item?.closest("ul")?.closest("li")?.querySelector<HTMLButtonElement>("button.item");
  const places: Record<string, () => HTMLButtonElement | undefined | null> = {
    ArrowDown: () => items[at + 1],
    ArrowUp: () => items[at - 1],
    Home: () => items[0],
    End: () => items.at(-1),
    ArrowRight: () => {
      if (expanded === "false") item!.click();
      return expanded === "true" ? items[at + 1] : undefined;
    },
    ArrowLeft: () => {
      if (expanded === "true") item!.click();
      return expanded === "true" ? undefined : above();
    },
  };
  if (!(key in places)) return false;
  places[key]!()?.focus();
  return true;
}
