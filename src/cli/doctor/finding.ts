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
