/** Takes over in the main thread what the threads have noted. */
import type { Logger } from 'pino';
import { type OtherSamples, type Sample, summed } from '../core/metrics.ts';
import type { NoteRefusal } from '../http/limits.ts';
import type { NoteKeyCalls } from '../modules/stats/key-calls.ts';
import type { FirstVerified } from '../modules/verification/first-verified.ts';
import type { LastSeen } from '../modules/verification/last-seen.ts';
import type { Notes, Samples } from './notes.ts';

export interface NoteTargets {
  readonly seen: Pick<LastSeen, 'record'>;
  readonly first: Pick<FirstVerified, 'verified' | 'refused'>;
  readonly noteRefusal: NoteRefusal;
  readonly noteKeyCalls: NoteKeyCalls;
  readonly noteUntrusted: (header: string) => void;
  readonly log: Logger;
  /** Writes whole lines of the access log. */
  readonly writeLines: ((lines: string) => void) | null;
}

export interface NoteIntake {
  take(thread: number, notes: Notes): void;
  /** Keeps the metrics of a thread that has ended. */
  ended(thread: number): void;
  /** Samples of all threads, of those that have ended too. */
  readonly samples: OtherSamples;
  /** Passes notes on from now on, with those taken before. */
  connect(targets: NoteTargets): void;
}

export function noteIntake(): NoteIntake {
  const latest = new Map<number, Samples>();
  const past = new Map<string, Sample[]>();
  const early: Notes[] = [];
  let targets: NoteTargets | null = null;

  function pass(notes: Notes, targets: NoteTargets): void {
    const { seen, first, noteRefusal, noteKeyCalls, noteUntrusted, log, writeLines } = targets;
    seen.record(notes.seen);
    for (const { applicationId, reason, at } of notes.judged)
      if (reason === null) first.verified(applicationId, at);
      else first.refused(applicationId, reason, at);
    for (const { applicationId, limit, count } of notes.refusals)
      for (let counted = 0; counted < count; counted += 1) noteRefusal(applicationId, limit);
    for (const { keyId, isRefused, count } of notes.keyCalls) noteKeyCalls(keyId, isRefused, count);
    for (const { level, fields, message } of notes.logged) log[level](fields, message);
    if (notes.untrustedHeader !== null) noteUntrusted(notes.untrustedHeader);
    if (notes.lines !== '') writeLines?.(notes.lines);
  }

  return {
    take(thread, notes) {
      if (notes.samples !== null) latest.set(thread, notes.samples);
      if (targets === null) early.push(notes);
      else pass(notes, targets);
    },
    ended(thread) {
      for (const [name, samples] of latest.get(thread) ?? [])
        past.set(name, summed([...(past.get(name) ?? []), ...samples]));
      latest.delete(thread);
    },
    samples: (name) => [
      ...(past.get(name) ?? []),
      ...[...latest.values()].flatMap((families) => families.find(([family]) => family === name)?.[1] ?? []),
    ],
    connect(given) {
      targets = given;
      for (const notes of early.splice(0)) pass(notes, given);
    },
  };
}
