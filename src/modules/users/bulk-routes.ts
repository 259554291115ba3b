/** Operations on all users that a filter matches. */
import { type Operation, operation } from '../../http/operation.ts';
import { PageQuery } from '../../http/schemas.ts';
import { BulkChangeDetail, BulkChangeInput, BulkChangePage, UserCount, UserCountQuery } from './bulk-model.ts';
import type { BulkChangeService } from './bulk-service.ts';

export function bulkChangeRoutes(bulk: BulkChangeService): Operation[] {
  const common = { isNoTool: true, tag: 'Users', access: 'full', scope: 'application', limit: 'key' } as const;
  const all = '/api/applications/:id/bulk-changes';
  const one = `${all}/:changeId` as const;
  return [
    operation({
      ...common,
      id: 'countUsers',
      method: 'GET',
      path: '/api/applications/:id/user-count',
      summary: 'Count the users that a filter matches',
      description: 'Filters as in the list of users.',
      query: UserCountQuery,
      data: UserCount,
      errors: ['invalid_cursor'],
      handle: ({ application, query: { cursor, ...filter } }) => bulk.count(application, filter, cursor),
    }),
    operation({
      ...common,
      id: 'startBulkChange',
      method: 'POST',
      path: all,
      summary: 'Change all users that a filter matches, in the background',
      danger:
        'Whom it bans, pauses or deletes loses every session at once; banned and deleted, every connected device for good.',
      description:
        'Takes an action, or roles, scopes and groups to add and remove. Returns at once; read the change for its progress and result. Concerns those who match now: people who join later are not touched, and those whom somebody else changes meanwhile are left alone. `filter: {}` matches everybody. One change at a time runs in an application. Events and audit records are those of single calls.',
      body: BulkChangeInput,
      data: BulkChangeDetail,
      errors: ['conflict'],
      handle: ({ actor, application, body }) => bulk.start(actor, application, body),
    }),
    operation({
      ...common,
      id: 'listBulkChanges',
      method: 'GET',
      path: all,
      summary: 'List the bulk changes of the last 30 days, newest first',
      query: PageQuery,
      data: BulkChangePage,
      errors: ['invalid_cursor'],
      handle: ({ application, query }) => bulk.list(application, query),
    }),
    operation({
      ...common,
      id: 'getBulkChange',
      method: 'GET',
      path: one,
      summary: 'Read a bulk change: its progress, its result and who was left out',
      data: BulkChangeDetail,
      handle: ({ application, params }) => bulk.get(application, params.changeId),
    }),
    operation({
      ...common,
      id: 'stopBulkChange',
      method: 'POST',
      path: `${one}/stop`,
      summary: 'Stop a running bulk change; people changed so far stay so',
      data: BulkChangeDetail,
      errors: ['conflict'],
      handle: ({ actor, application, params }) => bulk.stop(actor, application, params.changeId),
    }),
    operation({
      ...common,
      id: 'undoBulkChange',
      method: 'POST',
      path: `${one}/undo`,
      summary: 'Undo a bulk change of the last 30 days, for everybody whom it changed',
      gives: { words: 'People banned, paused or deleted by the change can sign in again.' },
      description:
        'A bulk change itself, with its own progress. Sessions and devices that ended do not come back. People whose state no longer allows it are refused.',
      data: BulkChangeDetail,
      errors: ['conflict'],
      handle: ({ actor, application, params }) => bulk.undo(actor, application, params.changeId),
    }),
  ];
}
