/** Liveness and readiness, for supervisors and load balancers. */
import { Type } from '@sinclair/typebox';
import { AppError } from '../../core/error.ts';
import type { Database } from '../../db/database.ts';
import { isSchemaCurrent } from '../../db/migrate.ts';
import { type Operation, operation } from '../../http/operation.ts';

const Status = Type.Object({ status: Type.String({ examples: ['ok'] }) });
const tag = 'Operation';

export function healthRoutes({ db, isStopping }: { db: Database; isStopping: () => boolean }): Operation[] {
  return [
    operation({
      id: 'healthz',
      method: 'GET',
      path: '/healthz',
      summary: 'Whether the process is alive',
      tag,
      access: 'none',
      scope: 'instance',
      limit: 'none',
      style: 'flat',
      data: Status,
      handle: () => ({ status: 'ok' }),
    }),
    operation({
      id: 'readyz',
      method: 'GET',
      path: '/readyz',
      summary: 'Whether requests can be served: the database is writable and its schema current',
      tag,
      access: 'none',
      scope: 'instance',
      limit: 'none',
      style: 'flat',
      data: Status,
      errors: ['unavailable'],
      async handle() {
        if (isStopping()) throw new AppError('unavailable', { hint: 'server_stopping' });
        await requireDatabase(db);
        return { status: 'ok' };
      },
    }),
  ];
}

/** @throws {AppError} unavailable, saying no more than what is the matter. */
async function requireDatabase(db: Database): Promise<void> {
  if (!db.status().isWritable) throw new AppError('unavailable', { hint: 'database_not_writable' });
  const isCurrent = await isSchemaCurrent(db.reader).catch((cause: unknown) => {
    throw new AppError('unavailable', { hint: 'database_not_readable', cause });
  });
  if (!isCurrent) throw new AppError('unavailable', { hint: 'database_schema_differs' });
}
