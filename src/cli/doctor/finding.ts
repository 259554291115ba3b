export const STATUSES = ['ok', 'warn', 'fail'] as const;
export type Status = (typeof STATUSES)[number];

export interface Finding {
  /** Name of the check, one or two words. */
  readonly check: string;
  readonly status: Status;
  readonly message: string;
  readonly remedy: string | null;
}

/** Returns functions that create a finding of one check, in a list of one, because checks return lists. */
export function findingsOf(check: string) {
  const finding = (status: Status, message: string, remedy: string | null): Finding[] => [
    { check, status, message, remedy },
  ];
  return {
    ok: (message: string) => finding('ok', message, null),
    warn: (message: string, remedy: string) => finding('warn', message, remedy),
    fail: (message: string, remedy: string) => finding('fail', message, remedy),
  };
}
