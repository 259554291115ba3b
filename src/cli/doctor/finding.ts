/** What the doctor says of one thing it has looked at. */

export const STATUSES = ['ok', 'warn', 'fail'] as const;
export type Status = (typeof STATUSES)[number];

export interface Finding {
  /** A word or two for what was looked at. */
  readonly check: string;
  readonly status: Status;
  /** Sentences. */
  readonly message: string;
  /** What to do; null where all is well. */
  readonly remedy: string | null;
}

/** Findings of one check. */
export function findingsOf(check: string) {
  return {
    ok: (message: string): Finding => ({ check, status: 'ok', message, remedy: null }),
    warn: (message: string, remedy: string): Finding => ({ check, status: 'warn', message, remedy }),
    fail: (message: string, remedy: string): Finding => ({ check, status: 'fail', message, remedy }),
  };
}

/** `1 mail`, `3 mails`. */
export function counted(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;
}

/** Such as `3 minutes`, for how long something has waited or will last. */
export function lasting(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 120) return counted(seconds, 'second');
  if (seconds < 2 * 3600) return counted(Math.round(seconds / 60), 'minute');
  return seconds < 48 * 3600
    ? counted(Math.round(seconds / 3600), 'hour')
    : counted(Math.floor(seconds / 86_400), 'day');
}
