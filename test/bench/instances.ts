/** Instances of the product on one database for a benchmark: SQLite, or PostgreSQL with several. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { systemRandom } from '../../src/core/random.ts';
import * as postgres from './postgres-bench.ts';
import { giveRole, insertDeliveries, insertMembers, insertSessions } from './rows.ts';
import { type BenchServer, fill, startServer } from './server.ts';

export interface BenchInstances {
  readonly name: string;
  /** Folder of the first, with the database file on SQLite. */
  readonly folder: string;
  /** Null on SQLite. */
  readonly database: postgres.BenchDatabase | null;
  /** The running servers. */
  servers(): readonly BenchServer[];
  start(): Promise<readonly BenchServer[]>;
  stop(): Promise<void>;
  remove(): Promise<void>;
  /** Inserts members, each with a role and an open session, while nothing runs. @returns the tokens. */
  insertSessions(applicationId: string, count: number): Promise<readonly string[]>;
  /** Inserts deliveries to an endpoint while nothing runs. */
  insertDeliveries(applicationId: string, webhookId: string, deliveries: postgres.InsertedDeliveries): Promise<void>;
}

export interface BenchInstancesOptions {
  /** Scratch folder. */
  readonly folder: string;
  /** URL of a server, as superuser. */
  readonly postgresUrl: string;
  /** Number of instances on PostgreSQL; null for SQLite, which has one. */
  readonly instances: number | null;
  readonly env: Readonly<Record<string, string>>;
}

export async function benchInstances({ folder: scratch, postgresUrl, instances, env }: BenchInstancesOptions) {
  const name = instances === null ? 'SQLite' : `PostgreSQL, ${instances} instance${instances === 1 ? '' : 's'}`;
  const database =
    instances === null ? null : await postgres.createDatabase(postgresUrl, `gatehouse_bench_${instances}`);
  const settings = {
    ...env,
    ...(database && {
      GATEHOUSE_DATABASE_URL: database.url,
      GATEHOUSE_INSTANCE_KEY: systemRandom.bytes(32).toBase64(),
    }),
  };
  const folders = Array.from({ length: instances ?? 1 }, (_, index) => join(scratch, `${name}-${index}`));
  for (const path of folders) mkdirSync(path, { recursive: true });
  const [folder = ''] = folders;
  let servers: BenchServer[] = [];

  const all: BenchInstances = {
    name,
    folder,
    database,
    servers: () => servers,
    async start() {
      for (const path of folders) servers.push(await startServer(path, settings));
      return servers;
    },
    async stop() {
      await Promise.all(servers.map((server) => server.stop()));
      servers = [];
    },
    async remove() {
      await database?.drop();
    },
    async insertSessions(applicationId, count) {
      if (database) return postgres.insertSessions(database.sql, applicationId, count);
      return fill(folder, (sqlite) => {
        const people = insertMembers(sqlite, applicationId, count);
        giveRole(sqlite, applicationId, 'user', people);
        return insertSessions(sqlite, people, count);
      });
    },
    async insertDeliveries(applicationId, webhookId, deliveries) {
      if (database) await postgres.insertDeliveries(database.sql, applicationId, webhookId, deliveries);
      else fill(folder, (sqlite) => insertDeliveries(sqlite, applicationId, [webhookId], deliveries));
    },
  };
  return all;
}
