/** Binds a database to its instance key: keeps the key's mark, which reveals nothing about the key. */
import type { SQL } from 'bun';
import { type InstanceKey, instanceKey } from '../../core/instance-key.ts';
import { StartupError } from '../../core/startup-error.ts';
import { MIGRATION_LOCK } from './migrate.ts';
import { hasTable, type Queried } from './schema-version.ts';

const INSTANCE_TABLE = 'gatehouse_instance';

const CREATE_INSTANCE_TABLE = `CREATE TABLE IF NOT EXISTS ${INSTANCE_TABLE} (
  id bigint PRIMARY KEY CHECK (id = 1),
  key_mark bigint NOT NULL,
  bound_at timestamptz NOT NULL DEFAULT now()
)`;

/** Returns the mark of the database's key; 0 where none is bound. */
export async function findKeyMark(sql: Queried): Promise<number> {
  if (!(await hasTable(sql, INSTANCE_TABLE))) return 0;
  const [row] = (await sql.unsafe(`SELECT CAST(key_mark AS text) AS mark FROM ${INSTANCE_TABLE}`)) as {
    readonly mark: string;
  }[];
  return Number(row?.mark ?? 0);
}

/** Checks the key. @param mark of the database; 0 for a new one. @throws {StartupError} if it is missing or another's */
export function requireDatabaseKey(keyBytes: Uint8Array | null, mark: number): InstanceKey {
  if (keyBytes === null)
    throw new StartupError(
      mark === 0
        ? 'There is no instance key. Run: openssl rand -base64 32 > instance.key; set GATEHOUSE_INSTANCE_KEY_FILE=instance.key.'
        : 'This database has an instance key. Set GATEHOUSE_INSTANCE_KEY_FILE to the file with it, as its other instances have.',
    );
  const key = instanceKey(keyBytes);
  if (mark !== 0 && mark !== key.mark) throw anothersKey();
  return key;
}

/** Binds the key, unless another one is bound by now: of two first starts the earlier one counts. @throws {StartupError} */
export async function bindKey(sql: SQL, { mark }: InstanceKey): Promise<void> {
  if ((await findKeyMark(sql)) === mark) return;
  await sql.begin('isolation level read committed', async (transaction) => {
    await transaction.unsafe(`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`);
    await transaction.unsafe(CREATE_INSTANCE_TABLE);
    await transaction.unsafe(`INSERT INTO ${INSTANCE_TABLE} (id, key_mark) VALUES (1, ${mark}) ON CONFLICT DO NOTHING`);
    if ((await findKeyMark(transaction)) !== mark) throw anothersKey();
  });
}

function anothersKey(): StartupError {
  return new StartupError(
    'The instance key is not the one of this database. Set GATEHOUSE_INSTANCE_KEY to that of its other instances.',
  );
}
