/** Databases without a schema on the run's PostgreSQL server. */
import { SQL } from 'bun';
import { randomUUID } from 'node:crypto';
import { databaseUrl, OWNER, postgresServer } from './postgres.ts';

export interface EmptyDatabases {
  readonly admin: SQL;
  /** @param options of `CREATE DATABASE`. */
  create(options?: string): Promise<EmptyDatabase>;
  /** Drops what was created since the last call. */
  drop(): Promise<void>;
}

export interface EmptyDatabase {
  readonly name: string;
  /** URL as the product opens it. */
  readonly url: string;
  /** Opens a client with one connection. @param as the product's role, or the superuser. */
  client(as?: 'owner' | 'superuser'): SQL;
}

export async function emptyDatabases(): Promise<EmptyDatabases> {
  const server = await postgresServer();
  const admin = new SQL(server, { max: 1, bigint: true });
  const created: { readonly name: string; readonly clients: SQL[] }[] = [];
  return {
    admin,
    async create(options = '') {
      const name = `empty_${randomUUID().replaceAll('-', '')}`;
      await admin.unsafe(`CREATE DATABASE ${name} OWNER ${OWNER} ${options}`);
      const clients: SQL[] = [];
      created.push({ name, clients });
      const url = databaseUrl(server, name);
      const superuserUrl = Object.assign(new URL(server), { pathname: name }).href;
      return {
        name,
        url,
        client(as = 'owner') {
          const sql = new SQL(as === 'owner' ? url : superuserUrl, { max: 1, bigint: true });
          clients.push(sql);
          return sql;
        },
      };
    },
    async drop() {
      for (const { name, clients } of created.splice(0)) {
        await Promise.all(clients.map((client) => client.close({ timeout: 0 })));
        await admin.unsafe(`DROP DATABASE ${name} WITH (FORCE)`);
      }
    },
  };
}
