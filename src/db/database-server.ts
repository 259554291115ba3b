/** State of the server that holds a database, as far as its ordinary user may see it; null where it may not. */

export interface DatabaseServer {
  /** Number of the release, such as `18.4`. */
  readonly version: string;
  /** Hosts and ports, without user and password. */
  readonly host: string;
  readonly database: string;
  readonly connections: ConnectionUse;
  readonly standbys: readonly Standby[];
  /** Settings in effect for changes, as the server writes them. */
  readonly synchronousCommit: string;
  readonly synchronousStandbyNames: string;
  /** Settings whose present value can lose or damage data in a crash, such as `fsync`. */
  readonly unsafeSettings: readonly string[];
  readonly hasChecksums: boolean;
  readonly isAutovacuumOn: boolean;
  /** Age of the oldest open transaction among the visible sessions of this database; null if there is none. */
  readonly oldestTransactionMs: number | null;
  /** Sessions of other roles, whose transactions this user may not see. */
  readonly hiddenSessions: number;
  /** Tables with many dead rows, the most first; at most five. */
  readonly bloatedTables: readonly BloatedTable[];
  /** Age of the oldest transaction id in use. The server takes no changes from about 2,146,000,000 on. */
  readonly transactionIdAge: number;
}

export interface ConnectionUse {
  /** By this user on this database: of all its instances, their commands and others with its password. */
  readonly own: number;
  readonly all: number;
  /** Number of connections that ordinary roles may have. */
  readonly most: number;
}

export interface Standby {
  readonly name: string | null;
  /** State of its replication, such as `streaming`. */
  readonly state: string | null;
  /** `sync`, `quorum`, `potential` or `async`. */
  readonly syncState: string | null;
  /** Log not yet replayed. */
  readonly lagBytes: number | null;
  /** Time until recent log was replayed; null also while there is nothing to replay. */
  readonly lagMs: number | null;
}

export interface BloatedTable {
  readonly table: string;
  readonly liveRows: number;
  readonly deadRows: number;
  /** Epoch milliseconds. */
  readonly lastVacuumAt: number | null;
}
