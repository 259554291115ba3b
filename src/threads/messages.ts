/** Messages between the main thread and the threads that verify, except frames and chunks of handed-over requests. */
import type { BlockList } from 'node:net';
import type { LimitSettings } from '../http/limits.ts';
import type { CertificatePair } from '../http/listener.ts';
import type { LimitMemory } from '../http/shared-limits.ts';
import type { Notes } from './notes.ts';

/** Settings of a thread. */
export interface ThreadSettings {
  readonly databasePath: string;
  /** Bound of the thread's query cache. */
  readonly maxCached: number;
  /** Memory of the change log. */
  readonly changes: SharedArrayBuffer;
  readonly limitMemory: LimitMemory;
  readonly host: string;
  readonly port: number;
  readonly baseUrl: string;
  readonly cdnUrl: string;
  readonly limits: LimitSettings;
  readonly trustedProxies: BlockList;
  readonly countryHeader: string | null;
  readonly isPrivate: boolean;
  readonly isAccessLogged: boolean;
}

export type ThreadCommand =
  /** @param number of the thread, from 2: the main thread is 1. */
  | {
      readonly kind: 'start';
      readonly number: number;
      readonly settings: ThreadSettings;
      readonly certificate: CertificatePair | null;
      readonly isReady: boolean;
      /** Memory of the thread's heartbeat. */
      readonly heartbeat: SharedArrayBuffer;
    }
  /** The main thread has loaded what verdicts rest on. */
  | { readonly kind: 'ready' }
  | { readonly kind: 'renew'; readonly certificate: CertificatePair }
  | { readonly kind: 'close idle' }
  | { readonly kind: 'leave' }
  | { readonly kind: 'stop'; readonly isForced: boolean };

export type ThreadReport =
  | { readonly kind: 'listening' }
  | { readonly kind: 'failed'; readonly code: string | null; readonly message: string }
  | { readonly kind: 'closed idle'; readonly count: number }
  | { readonly kind: 'left' }
  | { readonly kind: 'notes'; readonly notes: Notes }
  /** No request is left, and everything is handed over. */
  | { readonly kind: 'stopped' };
