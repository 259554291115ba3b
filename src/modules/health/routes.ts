/** Liveness and readiness, for supervisors and load balancers. */
import { Type } from '@sinclair/typebox';
import { AppError } from '../../core/error.ts';
import { SCHEMA_VERSION, schemaVersion } from '../../db/migrate.ts';
import type { Database } from '../../db/unit-of-work.ts';
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
      handle() {
        if (isStopping()) throw new AppError('unavailable', { message: 'The server is stopping.' });
        try {
          db.sqlite.run('BEGIN IMMEDIATE');
          db.sqlite.run('ROLLBACK');
        } catch (cause) {
          throw new AppError('unavailable', { message: 'The database cannot be written.', cause });
        }
        if (schemaVersion(db.sqlite) !== SCHEMA_VERSION)
          throw new AppError('unavailable', { message: 'The database has another schema than this binary.' });
        return { status: 'ok' };
      },
    }),
  ];
}
