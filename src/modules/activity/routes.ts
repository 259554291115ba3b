import { required } from '../../core/required.ts';
import { applicationAccess, workspaceAccess } from '../../core/access-control.ts';
import { type Access, credentialOf, type Principal } from '../../core/principal.ts';
import type { Author, Reader } from '../../db/database.ts';
import { type Operation, operation } from '../../http/operation.ts';
import type { RequestContext } from '../../http/request-context.ts';
import type { TenantApplication } from '../../store/applications.ts';
import type { AuditScope } from '../../store/audit-lists.ts';
import { ActivityPage, ActivityQuery, AuthEvent } from './model.ts';
import type { Activity } from './service.ts';
import type { ActivityStreams } from './streams.ts';

export interface ActivityRouteDependencies {
  readonly activity: Activity;
  readonly streams: ActivityStreams;
  readonly budgetOf: (workspaceId: string) => Promise<string>;
}

const PAGES = 'A filtered page may be short although another page follows.';

const STREAM =
  'First `ready`, then an `activity` for each record, in order, as the list shows it and with its id as the id of the event; with ' +
  '`Last-Event-ID` what came after that one first. On PostgreSQL a record may come behind later ones, and the 20 ' +
  'seconds before that id are repeated: tell records apart by their id. `reload` says that records may be missing, because the id ' +
  'is unknown here or too old, or the server’s clock went back: they are in the list. A comment line every 15 seconds keeps the connection alive; ' +
  '`ended` with an error code is the last, when the caller may not read on. A session in the cookie will do, for `EventSource`.';

export function activityRoutes({ activity, streams, budgetOf }: ActivityRouteDependencies): Operation[] {
  const common = { method: 'GET', tag: 'Activity', access: 'read', limit: 'key' } as const;
  const stream = { ...common, description: STREAM, mediaType: 'text/event-stream', errors: ['unavailable'] } as const;

  async function follow(
    scope: AuditScope,
    principal: Principal,
    actor: Author,
    context: RequestContext,
    accessOf: (caller: Principal) => Access | null,
  ): Promise<ReadableStream<Uint8Array>> {
    const again = required(actor.confirm, 'second look at a caller');
    const confirm = async (reader: Reader) => {
      const caller = await again(reader);
      return { maySeeNames: !!caller && accessOf(caller) === 'full' };
    };
    const budgetId = await budgetOf(scope.workspaceId);
    const after = context.request.headers.get('last-event-id');
    const { userId } = principal;
    return streams.open({ ...scope, budgetId, userId, credentialId: credentialOf(principal), after, confirm });
  }

  return [
    operation({
      ...common,
      id: 'listActivity',
      path: '/api/applications/:id/activity/list',
      summary: 'List the activity of an application, newest first',
      description: PAGES,
      scope: 'application',
      query: ActivityQuery,
      data: ActivityPage,
      errors: ['invalid_cursor'],
      handle: ({ principal, application, query }) =>
        activity.list(scopeOf(application), query, applicationAccess(principal, application) === 'full'),
    }),
    operation({
      ...stream,
      id: 'streamActivity',
      path: '/api/applications/:id/activity/events',
      summary: 'Stream the activity of an application as server-sent events',
      scope: 'application',
      handle: ({ application, principal, actor, context }) =>
        follow(scopeOf(application), principal, actor, context, (caller) => applicationAccess(caller, application)),
    }),
    operation({
      ...common,
      id: 'getActivity',
      path: '/api/applications/:id/activity/:activityId',
      summary: 'Read one activity record of an application',
      scope: 'application',
      data: AuthEvent,
      handle: ({ principal, application, params }) =>
        activity.get(scopeOf(application), params.activityId, applicationAccess(principal, application) === 'full'),
    }),
    operation({
      ...common,
      id: 'listWorkspaceActivity',
      path: '/api/workspace/activity/list',
      summary: 'List the activity of the workspace and all its applications, newest first',
      description: PAGES,
      scope: 'workspace',
      query: ActivityQuery,
      data: ActivityPage,
      errors: ['invalid_cursor'],
      handle: ({ principal, workspaceId, query }) =>
        activity.list(wholeOf(workspaceId), query, workspaceAccess(principal, workspaceId) === 'full'),
    }),
    operation({
      ...common,
      id: 'getWorkspaceActivity',
      path: '/api/workspace/activity/:activityId',
      summary: 'Read one activity record of the workspace or one of its applications',
      scope: 'workspace',
      data: AuthEvent,
      handle: ({ principal, workspaceId, params }) =>
        activity.get(wholeOf(workspaceId), params.activityId, workspaceAccess(principal, workspaceId) === 'full'),
    }),
    operation({
      ...stream,
      id: 'streamWorkspaceActivity',
      path: '/api/workspace/activity/events',
      summary: 'Stream the activity of the workspace and all its applications as server-sent events',
      scope: 'workspace',
      handle: ({ workspaceId, principal, actor, context }) =>
        follow(wholeOf(workspaceId), principal, actor, context, (caller) => workspaceAccess(caller, workspaceId)),
    }),
  ];
}

function wholeOf(workspaceId: string): AuditScope {
  return { workspaceId, applicationId: null };
}

function scopeOf({ id, workspaceId }: TenantApplication): AuditScope {
  return { workspaceId, applicationId: id };
}
