/** A seed file in parts that a call can take: settings first, then people some hundred at a time, last the workspace's keys. */
import type { SeedApplication, SeedChange, SeedDocument } from '../../modules/seed/model.ts';

/** People in a call: few calls, as a key has so many a minute, and far from what a body may have. */
const PEOPLE = 1000;
/** Characters of them: an address may be long. */
const PEOPLE_SIZE = 200_000;
/** Characters of settings in a call, far below what a body may have. */
const SETTINGS = 200_000;

export interface Part {
  readonly document: SeedDocument;
  /** Where it is of one application: its place in the file. */
  readonly at: number | null;
  /** How many people are in it. */
  readonly people: number;
  /** What else is in it is there to be referred to, and told of by another part. */
  isOf(change: Pick<SeedChange, 'kind' | 'application'>): boolean;
  /** How many things are its own; null where all are. */
  readonly things: number | null;
  /** The path in the file of a path in the part. */
  inFile(path: string): string;
}

/** @param isSplit one application in a part, as for keys that reach no further. */
export function applyPartsOf(document: SeedDocument, isSplit: boolean): Part[] {
  const { applications = [], apiKeys = [] } = document;
  const parts: Part[] = [];
  let group: SeedApplication[] = [];
  let first = 0;
  let size = 0;
  const close = (next: number) => {
    if (group.length > 0) parts.push(settingsPart(group, first));
    [group, first, size] = [[], next, 0];
  };
  for (const [at, application] of applications.entries()) {
    const { users = [], allowlist = [], ...settings } = application;
    const isSmall = users.length + allowlist.length <= PEOPLE && sizeOf([users, allowlist]) <= PEOPLE_SIZE;
    const whole = isSmall ? application : settings;
    const length = sizeOf(whole);
    if (size > 0 && (isSplit || size + length > SETTINGS)) close(at);
    group.push(whole);
    size += length;
    if (isSmall) continue;
    close(at + 1);
    const { slug, roles = [], scopes = [], groups = [] } = settings;
    const known = { slug, roles, scopes, groups };
    for (const { from, items } of slicesOf(allowlist)) parts.push(peoplePart({ ...known, allowlist: items }, at, from));
    for (const { from, items } of slicesOf(users)) parts.push(peoplePart({ ...known, users: items }, at, from));
  }
  close(applications.length);
  if (apiKeys.length > 0) {
    const slugs = new Set(apiKeys.flatMap((key) => key.applications ?? []));
    const named = applications.filter(({ slug }) => slugs.has(slug)).map(({ slug }) => ({ slug }));
    parts.push({
      document: { applications: named, apiKeys },
      at: null,
      people: 0,
      isOf: ({ kind, application }) => kind === 'key' && application === null,
      things: apiKeys.length,
      inFile: (path) => path,
    });
  }
  return parts;
}

const sizeOf = (value: unknown) => JSON.stringify(value).length;

function* slicesOf<Item>(items: readonly Item[]): Generator<{ from: number; items: Item[] }> {
  let slice: Item[] = [];
  let size = 0;
  for (const [at, item] of items.entries()) {
    const length = sizeOf(item);
    if (slice.length === PEOPLE || (slice.length > 0 && size + length > PEOPLE_SIZE)) {
      yield { from: at - slice.length, items: slice };
      [slice, size] = [[], 0];
    }
    slice.push(item);
    size += length;
  }
  if (slice.length > 0) yield { from: items.length - slice.length, items: slice };
}

function settingsPart(applications: SeedApplication[], first: number): Part {
  return {
    document: { applications },
    at: first,
    people: applications.reduce((sum, { users = [], allowlist = [] }) => sum + users.length + allowlist.length, 0),
    isOf: () => true,
    things: null,
    inFile: (path) => path.replace(/^applications\.(\d+)/, (_, at: string) => `applications.${first + Number(at)}`),
  };
}

function peoplePart(application: SeedApplication, at: number, from: number): Part {
  const people = application.users?.length ?? application.allowlist?.length ?? 0;
  return {
    document: { applications: [application] },
    at,
    people,
    isOf: ({ kind }) => kind === 'user' || kind === 'allowlist',
    things: people,
    inFile: (path) =>
      path
        .replace(/^applications\.0/, `applications.${at}`)
        .replace(
          /\.(users|allowlist)\.(\d+)/,
          (_, section: string, row: string) => `.${section}.${from + Number(row)}`,
        ),
  };
}
