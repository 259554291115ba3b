/**
 * Whether the disk takes changes: no longer from the first one that it refuses, and again once it has taken a probe. A small
 * change may still fit where nothing else does, so only a probe of a change's ordinary size ends a refusal.
 */
import { AppError } from '../core/error.ts';

export interface Refusals {
  isRefusing(): boolean;
  /** Notes a failure where the disk is its cause. @returns what the caller is told instead of it. */
  noted(failure: unknown): unknown;
  /** Probes the disk while it refuses changes. Calls share the next probe, so a caller learns of a moment after its call. */
  tryAgain(): Promise<void>;
}

export interface RefusalOptions {
  /** Writes and flushes so many KiB. @throws what the disk says. */
  readonly probe: (kibibytes: number) => Promise<void>;
  /** Called with the error when a refusal begins, and with null when it ends. */
  readonly onChange: (error: unknown) => void;
}

/** What SQLite says where the disk is full, gone, or read-only (https://www.sqlite.org/rescode.html). */
const DISK_CODES = /^SQLITE_(?:FULL|IOERR|READONLY|CANTOPEN)/;
const RETRY_SECONDS = 5;

/** More than a request's change writes. */
const PROBE_KIB = 256;
const LARGEST_PROBE_KIB = 4096;
/** A refusal that comes so soon after the last one doubles the probe: the one before was too small to tell. */
const RELAPSE_MS = 60_000;
const PROBE_EVERY_MS = 250;

export function refusalWatch({ probe, onChange }: RefusalOptions): Refusals {
  let isRefusing = false;
  let endedAt = -Infinity;
  let probedAt = -Infinity;
  let kibibytes = PROBE_KIB;
  let next: Promise<void> | undefined;

  function begin(error: unknown): void {
    if (isRefusing) return;
    isRefusing = true;
    const isRelapse = performance.now() - endedAt < RELAPSE_MS;
    kibibytes = isRelapse ? Math.min(LARGEST_PROBE_KIB, kibibytes * 2) : PROBE_KIB;
    onChange(error);
  }

  async function probeSoon(): Promise<void> {
    await Bun.sleep(Math.max(0, probedAt + PROBE_EVERY_MS - performance.now()));
    next = undefined;
    probedAt = performance.now();
    try {
      await probe(kibibytes);
    } catch {
      return;
    }
    if (!isRefusing) return;
    isRefusing = false;
    endedAt = performance.now();
    onChange(null);
  }

  return {
    isRefusing: () => isRefusing,
    noted(failure) {
      const refusal = asRefusal(failure);
      if (isDiskRefusal(refusal)) begin(refusal.cause ?? refusal);
      return refusal;
    },
    async tryAgain() {
      if (isRefusing) await (next ??= probeSoon());
    },
  };
}

/** Turns what SQLite says of the disk into a refusal that may be repeated; the change itself is not at fault. */
export function asRefusal(error: unknown): unknown {
  const code = String((error as { code?: unknown } | null)?.code);
  return DISK_CODES.test(code) ? diskRefusal(error) : error;
}

export function diskRefusal(cause?: unknown): AppError {
  return new AppError('unavailable', { hint: 'disk_refuses_writes', retryAfterSeconds: RETRY_SECONDS, cause });
}

export function isDiskRefusal(error: unknown): error is AppError {
  return error instanceof AppError && error.hint === 'disk_refuses_writes';
}
