/** Data that a start or a command has opened, whichever engine holds it. */
import type { Deadline } from '../core/deadline.ts';
import type { InstanceKey } from '../core/instance-key.ts';
import type { Database } from './database.ts';

export interface OpenedData {
  readonly db: Database;
  readonly instanceKey: InstanceKey;
  /** Identifies this instance as the holder of leases. */
  readonly leaseHolder: string;
  /** The copy made before an upgrade, if there was one. */
  readonly upgradeCopy: string | null;
  /** True if the previous server on this folder did not stop cleanly. */
  readonly isAfterCrash: boolean;
  /** Describes a running server to commands of its machine; null without a data folder, where they find none. */
  readonly notes: ServerNotes | null;
  /** Returns the error that explains a failure of the database to the operator; others unchanged. */
  explained(error: unknown): unknown;
  close(deadline?: Deadline): Promise<void>;
}

export interface ServerNotes {
  /** Writes the note atomically. */
  write(note: ServerNote): void;
  remove(): void;
}

/** Note of a running server, readable by its own user only. */
export interface ServerNote {
  readonly pid: number;
  /** Public URL, without a trailing slash. */
  readonly url: string;
  /** URL on this machine, which bypasses any proxy. */
  readonly localUrl: string;
  /** In epoch milliseconds. */
  readonly startedAt: number;
  readonly version: string;
  readonly schemaVersion: number;
  /** New at each start, so that a command knows which server it has reached. */
  readonly instanceId: string;
  /** Secret that proves to the server that a command runs on its own machine. */
  readonly pass: string;
  /** Host and port of the mail server; null where mail stays in the outbox. */
  readonly mailServer: string | null;
  /** Settings given to the server, by variable; secrets are masked. */
  readonly settings: Readonly<Record<string, string>>;
}
