/** Reads paginated lists completely, for choices and files. */
import type { Failure, Outcome, Page } from './api.ts';

/** Maximum that a browser handles comfortably. */
export const MAX_READ = 100_000;
/** Wait when the server gives no Retry-After. */
export const WAIT_SECONDS = 5;
const MAX_WAITS = 20;

export interface Reading<Item> {
  readonly load: (cursor: string | undefined) => Promise<Outcome<Page<Item>>>;
  readonly onPage: (items: readonly Item[]) => void;
  readonly signal: AbortSignal;
  /** Maximum number of items; {@link MAX_READ} by default. */
  readonly max?: number;
}

/** End of a read; `full` means that the maximum was reached. */
type ReadEnd = { readonly ok: true; readonly end: 'whole' | 'full' | 'stopped' } | Failure;

/** Reads a list for a file: can be aborted, waits out rate limits, and has a maximum. */
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

/** Resolves early when aborted. */
export function pause(seconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, seconds * 1000);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** Reads all choices, at most `max`, beyond which nobody would look through them. */
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
