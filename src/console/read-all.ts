/** Reads lists to their ends, page by page: short ones to choose from, long ones for a file. */
import type { Failure, Outcome, Page } from './api.ts';

/** What a browser holds and writes without trouble. */
export const MAX_READ = 100_000;
/** Where the server does not say how long to wait. */
export const WAIT_SECONDS = 5;
const MAX_WAITS = 20;

export interface Reading<Item> {
  /** One page, from a cursor on. */
  readonly load: (cursor: string | undefined) => Promise<Outcome<Page<Item>>>;
  readonly onPage: (items: readonly Item[]) => void;
  readonly signal: AbortSignal;
  /** How many at most; {@link MAX_READ} where nothing is said. */
  readonly max?: number;
}

/** How it ended: `full` where there was more than the bound. */
type ReadEnd = { readonly ok: true; readonly end: 'whole' | 'full' | 'stopped' } | Failure;

/** For a file: can be stopped, waits where calls are limited, and has a bound. */
export async function readAll<Item>({ load, onPage, signal, max = MAX_READ }: Reading<Item>): Promise<ReadEnd> {
  let cursor: string | undefined;
  let read = 0;
  let waits = 0;
  while (!signal.aborted) {
    const page = await load(cursor);
    if (signal.aborted) break;
    if (!page.ok && page.status === 429 && waits < MAX_WAITS) {
      waits += 1;
      await pause(page.retryAfterSeconds ?? WAIT_SECONDS, signal);
      continue;
    }
    if (!page.ok) return page;
    waits = 0;
    const items = page.data.items.slice(0, max - read);
    read += items.length;
    onPage(items);
    if (page.data.nextCursor === null) return { ok: true, end: 'whole' };
    if (read >= max) return { ok: true, end: 'full' };
    cursor = page.data.nextCursor;
  }
  return { ok: true, end: 'stopped' };
}

/** Ends early where the signal says so. */
export function pause(seconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, seconds * 1000);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** All of what is chosen from; what is beyond `max` nobody would look through. */
export async function allOf<Item>(
  load: (cursor: string | undefined) => Promise<Outcome<Page<Item>>>,
  max = MAX_READ,
): Promise<Outcome<Item[]>> {
  const all: Item[] = [];
  let cursor: string | undefined;
  do {
    const page = await load(cursor);
    if (!page.ok) return page;
    all.push(...page.data.items);
    cursor = page.data.nextCursor ?? undefined;
  } while (cursor !== undefined && all.length < max);
  return { ok: true, data: all };
}
