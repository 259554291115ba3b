/** Liveness and readiness, for supervisors and load balancers. */
import { SYSTEM_ACTOR } from '../../core/actor.ts';
import { AppError } from '../../core/error.ts';
import type { Database } from '../../db/database.ts';
import { type Operation, operation } from '../../http/operation.ts';
import { noteProbe } from '../../store/rate-counters.ts';
import { livenessRoute, HealthStatus, TAG as tag } from './liveness-route.ts';

/** Readiness is verified by a write, at most this often. */
const WRITE_EVERY_MS = 5000;
const RETRY_SECONDS = 5;

export function healthRoutes({ db, isStopping }: { db: Database; isStopping: () => boolean }): Operation[] {
  let writtenAt = -Infinity;

  /** @throws {AppError} unavailable if nothing can be committed. */
  async function requireWrite(): Promise<void> {
    if (performance.now() - writtenAt < WRITE_EVERY_MS) return;
    await db.write(SYSTEM_ACTOR, noteProbe, { isolation: 'read committed' }).catch((cause: unknown) => {
      if (cause instanceof AppError) throw cause;
      throw new AppError('unavailable', {
        hint: 'database_not_writable',
        retryAfterSeconds: RETRY_SECONDS,
        cause,
      });
    });
    writtenAt = performance.now();
  }

  return [
    livenessRoute(),
    operation({
      id: 'readyz',
      method: 'GET',
      path: '/readyz',
      summary: 'Check whether requests can be served: the database is writable and its schema current',
      description:
        '503 with the reason from the first change that the database refuses until it accepts one again. ' +
        'Reads and verification may keep working meanwhile.',
      tag,
      access: 'none',
      scope: 'instance',
      limit: 'none',
      style: 'flat',
      data: HealthStatus,
      errors: ['unavailable'],
      async handle() {
        if (isStopping()) throw new AppError('unavailable', { hint: 'server_stopping' });
        await requireDatabase(db);
        await requireWrite();
        return { status: 'ok' };
      },
    }),
  ];
}

/** @throws {AppError} unavailable with the reason. */
async function requireDatabase(db: Database): Promise<void> {
  // The disk may accept writes again by now.
  await db.probeDisk();
  const { outage } = db.status();
  if (outage !== null) throw new AppError('unavailable', { hint: outage, retryAfterSeconds: RETRY_SECONDS });
  const isCurrent = await db.isSchemaCurrent().catch((cause: unknown) => {
    if (cause instanceof AppError) throw cause;
    throw new AppError('unavailable', { hint: 'database_not_readable', retryAfterSeconds: RETRY_SECONDS, cause });
  });
  if (!isCurrent)
    throw new AppError('unavailable', { hint: 'database_schema_differs', retryAfterSeconds: RETRY_SECONDS });
}
