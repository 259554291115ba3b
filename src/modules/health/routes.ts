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
        if (isStopping()) throw new AppError('unavailable', { message: 'The server is stopping.' });
        await requireDatabase(db);
        return { status: 'ok' };
      },
    }),
  ];
}

/** @throws {AppError} unavailable, saying no more than what is the matter. */
async function requireDatabase(db: Database): Promise<void> {
  const refuse = (message: string, cause?: unknown) => new AppError('unavailable', { message, cause });
  if (!db.status().isWritable) throw refuse('The database cannot be written.');
  const isCurrent = await isSchemaCurrent(db.reader).catch((cause: unknown) => {
    throw refuse('The database cannot be read.', cause);
  });
  if (!isCurrent) throw refuse('The database has another schema than this binary.');
}
