// Names of datasets as a tree: what is before a dot or a slash is a branch.

export interface Row {
  /** Name of the dataset, or of the branch with the separator at its end. */
  key: string;
  /** The part of the name that is new at this level. */
  name: string;
  level: number;
  /** Of a branch: whether what is below it is shown, and the number of datasets there. */
  open?: boolean;
  count?: number;
}

interface Branch {
  key: string;
  name: string;
  count: number;
  branches: Map<string, Branch>;
  leaves: { key: string; name: string }[];
}

const collator = new Intl.Collator("en", { numeric: true });

/** Names in the order in which people look for them: `volt2` before `volt10`. */
export function ordered(names: Iterable<string>): string[] {
  return [...names].sort(collator.compare);
}

/** A separator between two parts that are not empty. */
const PARTS = /(?<=[^./])[./](?=[^./])/g;

function planted(names: readonly string[]): Branch {
  const root: Branch = { key: "", name: "", count: 0, branches: new Map(), leaves: [] };
  for (const key of names) {
    let [branch, begin] = [root, 0];
    branch.count++;
    for (const found of key.matchAll(PARTS)) {
      const end = found.index + 1;
      const name = key.slice(begin, end);
      let next = branch.branches.get(name);
      if (!next) branch.branches.set(name, (next = { key: key.slice(0, end), name, count: 0, branches: new Map(), leaves: [] }));
      [branch, begin] = [next, end];
      branch.count++;
    }
    branch.leaves.push({ key, name: key.slice(begin) });
  }
  return root;
}

/** The only dataset of a branch. */
function only(branch: Branch): string {
  for (const each of branch.branches.values()) return only(each);
  return branch.leaves[0]!.key;
}

/** The rows that are shown of names in their order; a branch with one dataset is a row with it. `isOpen`: whether a branch is, by its key. */
export function rows(names: readonly string[], isOpen: (key: string) => boolean): Row[] {
  const found: Row[] = [];
  const add = (branch: Branch, level: number) => {
    for (const each of branch.branches.values()) {
      if (each.count === 1) {
        const key = only(each);
        found.push({ key, name: key.slice(each.key.length - each.name.length), level });
        continue;
      }
      const open = isOpen(each.key);
      found.push({ key: each.key, name: each.name, level, open, count: each.count });
      if (open) add(each, level + 1);
    }
    for (const leaf of branch.leaves) found.push({ ...leaf, level });
  };
  add(planted(names), 1);
  return found;
}

/** All branches of names. */
export function branchesOf(names: readonly string[]): Set<string> {
  const found = new Set<string>();
  for (const key of names) for (const { index } of key.matchAll(PARTS)) found.add(key.slice(0, index + 1));
  return found;
}
