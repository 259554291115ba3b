/** Notes of a thread for the main thread, handed over in batches: uses of credentials, calls, refusals, log lines. */
import type { MetricFamily, Sample } from '../core/metrics.ts';
import type { ReportedLimit } from '../http/limits.ts';
import type { TokenRefusal } from '../modules/verification/model.ts';
import type { SeenNote } from '../modules/verification/last-seen.ts';

/** Samples of a metric family, by its name. */
export type Samples = readonly (readonly [name: string, samples: readonly Sample[]])[];

export type LogLevel = 'info' | 'warn' | 'error';

export interface LogNote {
  readonly level: LogLevel;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly message: string;
}

export interface Judged {
  readonly applicationId: string;
  /** Null for a success. */
  readonly reason: TokenRefusal | null;
  at: number;
}

export interface LimitRefusals {
  readonly applicationId: string | null;
  readonly limit: ReportedLimit;
  readonly count: number;
}

export interface CalledKey {
  readonly keyId: string;
  readonly isRefused: boolean;
  count: number;
}

export interface Notes {
  /** Whole lines of the access log. */
  readonly lines: string;
  readonly seen: readonly SeenNote[];
  /** Applications that were verified against, each with its latest outcome of each kind. */
  readonly judged: readonly Judged[];
  readonly refusals: readonly LimitRefusals[];
  readonly keyCalls: readonly CalledKey[];
  readonly logged: readonly LogNote[];
  /** Header of a proxy that is not trusted; null where none came. */
  readonly untrustedHeader: string | null;
  /** All metrics of the thread, as they are now; null where they come with the next notes. */
  readonly samples: Samples | null;
}

export interface NoteBook {
  line(line: string): void;
  seen(note: SeenNote): void;
  judged(applicationId: string, reason: TokenRefusal | null, at: number): void;
  refused(applicationId: string | null, limit: ReportedLimit): void;
  keyCalled(keyId: string, isRefused: boolean): void;
  log(note: LogNote): void;
  untrusted(header: string): void;
  /** Notes that metrics have changed. */
  touch(): void;
  /** Sends everything now. */
  flush(): Promise<void>;
}

const FLUSH_MS = 250;
/** Notes that are sent sooner: a kill loses them, and each message must stay small. */
const MOST_LINE_CHARACTERS = 32 * 1024;
const MOST_NOTES = 2000;

/** Notes since the last batch. */
interface Batch {
  lines: string;
  readonly seen: SeenNote[];
  /** By reason, then by application. */
  readonly judged: Map<TokenRefusal | null, Map<string, Judged>>;
  readonly refusals: Map<string, LimitRefusals>;
  /** Calls by key: accepted ones, and refused ones. */
  readonly keyCalls: { readonly accepted: Map<string, CalledKey>; readonly refused: Map<string, CalledKey> };
  readonly logged: LogNote[];
  untrustedHeader: string | null;
}

const emptyBatch = (): Batch => ({
  lines: '',
  seen: [],
  judged: new Map(),
  refusals: new Map(),
  keyCalls: { accepted: new Map(), refused: new Map() },
  logged: [],
  untrustedHeader: null,
});

const isFull = ({ lines, seen, judged, refusals, keyCalls, logged }: Batch): boolean => {
  let notes = seen.length + refusals.size + keyCalls.accepted.size + keyCalls.refused.size + logged.length;
  for (const ofReason of judged.values()) notes += ofReason.size;
  return lines.length > MOST_LINE_CHARACTERS || notes > MOST_NOTES;
};

/** @param families of the thread's metrics. */
export function noteBook(families: () => readonly MetricFamily[], send: (notes: Notes) => void): NoteBook {
  let batch = emptyBatch();
  let timer: ReturnType<typeof setTimeout> | null = null;

  function sendBatch(samples: Samples | null): void {
    const { judged, refusals, keyCalls, ...others } = batch;
    batch = emptyBatch();
    send({
      ...others,
      refusals: [...refusals.values()],
      keyCalls: [...keyCalls.accepted.values(), ...keyCalls.refused.values()],
      judged: [...judged.values()].flatMap((ofReason) => [...ofReason.values()]),
      samples,
    });
  }

  async function flush(): Promise<void> {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    sendBatch(await Promise.all(families().map(async (family) => [family.name, await family.read()] as const)));
  }

  function touch(): void {
    if (isFull(batch)) sendBatch(null);
    timer ??= setTimeout(() => void flush(), FLUSH_MS);
  }

  return {
    line(line) {
      batch.lines += line;
      touch();
    },
    seen(note) {
      batch.seen.push(note);
      touch();
    },
    judged(applicationId, reason, at) {
      let ofReason = batch.judged.get(reason);
      if (ofReason === undefined) batch.judged.set(reason, (ofReason = new Map()));
      const known = ofReason.get(applicationId);
      if (known === undefined) ofReason.set(applicationId, { applicationId, reason, at });
      else known.at = at;
      touch();
    },
    refused(applicationId, limit) {
      const key = `${applicationId} ${limit}`;
      const count = (batch.refusals.get(key)?.count ?? 0) + 1;
      batch.refusals.set(key, { applicationId, limit, count });
      touch();
    },
    keyCalled(keyId, isRefused) {
      const calls = isRefused ? batch.keyCalls.refused : batch.keyCalls.accepted;
      const known = calls.get(keyId);
      if (known === undefined) calls.set(keyId, { keyId, isRefused, count: 1 });
      else known.count += 1;
      touch();
    },
    log(note) {
      batch.logged.push(note);
      touch();
    },
    untrusted(header) {
      batch.untrustedHeader = header;
      touch();
    },
    touch,
    flush,
  };
}
