/**
 * Tracks whether the disk takes changes. A refusal ends with a successful probe of ordinary size, since a small change
 * may still fit on a full disk.
 */
import { AppError } from '../../core/error.ts';
import type { MutableMetrics } from '../metrics.ts';

export interface DiskHealthOptions {
  /** Writes and flushes this many KiB. @throws where the disk refuses. */
  readonly probe: (kibibytes: number) => Promise<unknown>;
  /** Called with the error when a refusal begins, and with null when it ends. */
  readonly onChange: (error: unknown) => void;
  readonly metrics: MutableMetrics;
}

/** SQLite's codes for a disk that is full, gone or read-only (https://www.sqlite.org/rescode.html). */
const DISK_CODES = /^SQLITE_(?:FULL|IOERR|READONLY|CANTOPEN)/;
const RETRY_SECONDS = 5;

/** More than the change of an ordinary request writes. */
const PROBE_KIB = 256;
const LARGEST_PROBE_KIB = 4096;
/** A refusal within this time of the last one doubles the probe, which was too small to prove anything. */
const RELAPSE_MS = 60_000;
const PROBE_EVERY_MS = 250;

export function diskHealth({ probe, onChange, metrics }: DiskHealthOptions) {
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
    /** Counts a failure that the disk caused, and begins a refusal. @throws the failure as callers see it. */
    reject(failure: unknown): never {
      const error = asDiskError(failure);
      if (isDiskError(error)) {
        metrics.refusals += 1;
        begin(error.cause ?? error);
      }
      throw error;
    },
    /** Probes the disk while it refuses changes. Calls share the next probe, which begins after them. */
    async probeWhileRefusing(): Promise<void> {
      if (isRefusing) await (next ??= probeSoon());
    },
  };
}

function asDiskError(error: unknown): unknown {
  const code = String((error as { code?: unknown } | null)?.code);
  return DISK_CODES.test(code) ? diskError(error) : error;
}

/** @throws the failure as callers see it. */
export function throwDiskError(failure: unknown): never {
  throw asDiskError(failure);
}

export function diskError(cause?: unknown): AppError {
  return new AppError('unavailable', { hint: 'disk_refuses_writes', retryAfterSeconds: RETRY_SECONDS, cause });
}

export function isDiskError(error: unknown): error is AppError {
  return error instanceof AppError && error.hint === 'disk_refuses_writes';
}
