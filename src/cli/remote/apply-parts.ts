/** Splits a seed file into request-sized parts: settings before people, people in batches, workspace keys last. */
import type { SeedApplication, SeedChange, SeedDocument } from '../../modules/seed/model.ts';

/** People per request: keys have a per-minute limit, so requests are few, yet stay far below the body limit. */
const PEOPLE = 1000;
/** Characters of people per request; addresses can be long. */
const PEOPLE_SIZE = 200_000;
/** Characters of settings per request, far below the body limit. */
const SETTINGS = 200_000;

export interface Part {
  readonly document: SeedDocument;
  /** Index in the file of the first application; null for workspace keys. */
  readonly at: number | null;
  readonly people: number;
  /** Returns whether a change belongs to this part. The rest is only context, and another part reports it. */
  isOf(change: Pick<SeedChange, 'kind' | 'application'>): boolean;
  /** Number of items in the part's own report; null to count every reported change. */
  readonly things: number | null;
  /** Translates the path of an error from this part to the whole file. */
  inFile(path: string): string;
}

/** @param isSplit whether each part has only one application, for keys limited to one. */
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
    for (const { from, items } of batchesOf(allowlist))
      parts.push(peoplePart({ ...known, allowlist: items }, at, from));
    for (const { from, items } of batchesOf(users)) parts.push(peoplePart({ ...known, users: items }, at, from));
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

function* batchesOf<Item>(items: readonly Item[]): Generator<{ from: number; items: Item[] }> {
  let batch: Item[] = [];
  let size = 0;
  for (const [at, item] of items.entries()) {
    const length = sizeOf(item);
    if (batch.length === PEOPLE || (batch.length > 0 && size + length > PEOPLE_SIZE)) {
      yield { from: at - batch.length, items: batch };
      [batch, size] = [[], 0];
    }
    batch.push(item);
    size += length;
  }
  if (batch.length > 0) yield { from: items.length - batch.length, items: batch };
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
