/** A single result of the doctor. */

export const STATUSES = ['ok', 'warn', 'fail'] as const;
export type Status = (typeof STATUSES)[number];

export interface Finding {
  /** Name of the check, one or two words. */
  readonly check: string;
  readonly status: Status;
  readonly message: string;
  /** Suggested fix; null when all is well. */
  readonly remedy: string | null;
}

export function findingsOf(check: string) {
  return {
    ok: (message: string): Finding => ({ check, status: 'ok', message, remedy: null }),
    warn: (message: string, remedy: string): Finding => ({ check, status: 'warn', message, remedy }),
    fail: (message: string, remedy: string): Finding => ({ check, status: 'fail', message, remedy }),
  };
}
