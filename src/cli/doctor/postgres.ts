/** Checks a PostgreSQL database and its instances: how it is reached, schema, key, server, queues and backups. */
import { POSTGRES_BACKUP } from '../../backup/database-tools.ts';
import { AppError } from '../../core/error.ts';
import { bytesText, counted, lasting } from '../../core/quantities.ts';
import type { DatabaseServer } from '../../db/database-server.ts';
import type { Database, DatabaseSize } from '../../db/database.ts';
import type { PostgresSettings } from '../../db/postgres/address.ts';
import { lagText, serverWarnings } from '../../modules/health/server-warnings.ts';
import { compareClocks } from '../../modules/instances/clock.ts';
import { findInstances, instanceWarnings, type ListedInstance } from '../../modules/instances/overview.ts';
import type { DoctorContext, ServerAnswer } from './context.ts';
import { type Finding, findingsOf } from './finding.ts';
import type { OtherClock } from './machine.ts';
import { reachDatabase } from './postgres-reach.ts';
import { schemaFindings } from './postgres-schema.ts';
import { workFindings } from './work.ts';

export interface PostgresState {
  readonly findings: readonly Finding[];
  /** Whether an instance runs on the database; false where that is not known. */
  readonly isServed: boolean;
  readonly clock: OtherClock | null;
}

/** @param answer of an instance on the database. */
export async function postgresFindings(
  context: Pick<DoctorContext, 'now'>,
  settings: PostgresSettings,
  answer: ServerAnswer | null,
  { isFull }: { readonly isFull: boolean },
): Promise<PostgresState> {
  const { examination, findings: reached } = await reachDatabase(settings);
  if (examination === null) return { findings: reached, isServed: false, clock: null };
  const schema = await schemaFindings(examination).finally(examination.close);
  const findings = [...reached, ...schema.findings];
  if (!schema.isReadable) return { findings, isServed: false, clock: null };
  const { address } = settings;
  const db = await examination.open();
  try {
    const rest = await openedFindings(context, db, answer, isFull);
    return { ...rest, findings: [...findings, ...rest.findings] };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const lost = findingsOf('database').fail(
      `${address.shown} was lost during the checks: ${error.message}`,
      'Check its log, and try again.',
    );
    return { findings: [...findings, ...lost], isServed: false, clock: null };
  } finally {
    await db.close();
  }
}

async function openedFindings(
  { now }: Pick<DoctorContext, 'now'>,
  db: Database,
  answer: ServerAnswer | null,
  isFull: boolean,
): Promise<PostgresState> {
  const [size, instances, { offsetMs }] = await Promise.all([
    db.measure(),
    findInstances(db.reader, { real: now }),
    compareClocks(db.reader, { real: now }),
  ]);
  const isServed = instances.some(({ isAlive }) => isAlive);
  return {
    isServed,
    clock: { whose: 'the database', aheadMs: -offsetMs },
    findings: [
      ...serverFindings(size),
      ...integrityFindings(size.server, isFull),
      ...instanceFindings(instances, now()),
      ...(await workFindings({ now, isServed }, db.reader, answer)),
      ...findingsOf('backups').ok(
        `Made by the database’s own tools, and not known here. A dump: ${POSTGRES_BACKUP.backup}`,
      ),
    ],
  };
}

function serverFindings({ bytes, server }: DatabaseSize): Finding[] {
  const { ok, warn, fail } = findingsOf('database');
  if (server === null) return [];
  const { version, host, database, connections, standbys, hiddenSessions } = server;
  const { all, own, most } = connections;
  const hidden = hiddenSessions === 0 ? '' : ` ${counted(hiddenSessions, 'session')} of other roles cannot be seen.`;
  const warnings = serverWarnings(server).flatMap(({ code, message, remedy }) =>
    (code === 'database_unsafe' ? fail : warn)(message, remedy),
  );
  return [
    ...ok(
      `PostgreSQL ${version} at ${host}: ${database} has ${bytesText(bytes)}. ${all} of ${most} connections in use, ${own} by this role.${hidden}`,
    ),
    ...warnings,
    ...findingsOf('replication').ok(
      standbys.length === 0
        ? 'No standby is connected: the database is down when its machine is.'
        : `${counted(standbys.length, 'standby', 'standbys')}: ${standbys.map(lagText).join('; ')}.`,
    ),
  ];
}

/** Checking tables and indexes needs the extension amcheck, which is not assumed. */
function integrityFindings(server: DatabaseServer | null, isFull: boolean): Finding[] {
  const { ok, warn } = findingsOf('integrity');
  if (server === null) return [];
  if (isFull)
    return warn(
      '--full checks data folders. Of PostgreSQL, it checks neither tables nor indexes.',
      `Run pg_amcheck --install-missing ${server.database} as a superuser, and test a restore of a dump.`,
    );
  if (server.hasChecksums) return ok('The server checks each page as it reads it (data checksums).');
  return warn(
    'Data checksums are off: damage of the disk can stay unnoticed.',
    'Stop the server, run pg_checksums --enable, and start it again.',
  );
}

function instanceFindings(instances: readonly ListedInstance[], now: number): Finding[] {
  const { ok, warn } = findingsOf('instances');
  const alive = instances.filter(({ isAlive }) => isAlive);
  if (alive.length === 0)
    return warn(
      'No instance runs on this database.',
      'Start one: gatehouse serve. Checks that need a running instance are skipped.',
    );
  const shown = alive.map(
    ({ host, version, startedAt }) => `${host} (version ${version}, up for ${lasting(now - startedAt)})`,
  );
  const gone = instances.length - alive.length;
  const text = `${counted(alive.length, 'instance')}: ${shown.join(', ')}.`;
  return [
    ...ok(gone === 0 ? text : `${text} ${counted(gone, 'instance')} of the last day stopped without saying so.`),
    ...instanceWarnings(instances).flatMap(({ message, remedy }) => warn(message, remedy)),
  ];
}
