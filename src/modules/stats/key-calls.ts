/** Sums the calls of backend keys between two flushes: a call costs one lookup in memory. */

/** Metrics of a key's calls, counted by the hour. */
export const CALL_METRICS = ['accepted', 'refused'] as const;
export type CallMetric = (typeof CALL_METRICS)[number];

/** Keys with calls between two flushes; calls of others are not counted. */
const MOST_KEYS = 50_000;

export type NoteKeyCalls = (keyId: string, isRefused: boolean, count?: number) => void;

export interface KeyCallCounts {
  readonly called: NoteKeyCalls;
  /** Returns the calls since the last time, and forgets them. */
  take(): { readonly keyId: string; readonly metric: CallMetric; readonly count: number }[];
}

export function keyCalls(): KeyCallCounts {
  const calls = new Map<string, Record<CallMetric, number>>();
  return {
    called(keyId, isRefused, count = 1) {
      let known = calls.get(keyId);
      if (known === undefined) {
        if (calls.size >= MOST_KEYS) return;
        calls.set(keyId, (known = { accepted: 0, refused: 0 }));
      }
      known[isRefused ? 'refused' : 'accepted'] += count;
    },
    take() {
      const taken = [...calls].flatMap(([keyId, counts]) =>
        CALL_METRICS.filter((metric) => counts[metric] > 0).map((metric) => ({ keyId, metric, count: counts[metric] })),
      );
      calls.clear();
      return taken;
    },
  };
}
