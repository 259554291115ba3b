/** Source of activity: the calls and addresses that differ between an application and a workspace. */
import { addresses } from '../../address.ts';
import { api, ask, type Outcome, type Page, type Schemas } from '../../api.ts';
import type { AuthEvent } from './kinds.ts';
import type { ActivityQuery } from './activity-filters.ts';

interface ActivityPart extends ActivityQuery {
  readonly cursor?: string | undefined;
  readonly limit: number;
}

export interface ActivitySource {
  readonly id: string;
  readonly lead: string;
  readonly isOfMany: boolean;
  /** Applications that the member may see, and whose records are listed. */
  readonly applicationIds: readonly string[];
  /** Path of the live stream. */
  readonly events: string;
  list(part: ActivityPart): Promise<Outcome<Page<AuthEvent>>>;
  one(activityId: string): Promise<Outcome<AuthEvent>>;
  address(...rest: string[]): string;
}

export const applicationEvents = (id: string) => `/api/applications/${encodeURIComponent(id)}/activity/events`;

export function activityOfApplication({ id, name }: Schemas['Application']): ActivitySource {
  return {
    id,
    lead: `What people, keys and administrators did in ${name}, newest first.`,
    isOfMany: false,
    applicationIds: [id],
    events: applicationEvents(id),
    list: (query) => ask(api.GET('/api/applications/{id}/activity/list', { params: { path: { id }, query } })),
    one: (activityId) =>
      ask(api.GET('/api/applications/{id}/activity/{activityId}', { params: { path: { id, activityId } } })),
    address: (...rest) => addresses.application(id, 'activity', ...rest),
  };
}

export function activityOfWorkspace(
  { id: workspaceId, name }: Schemas['Workspace'],
  applications: readonly Schemas['Application'][],
): ActivitySource {
  return {
    id: workspaceId,
    lead: `What happened in ${name} and all its applications, newest first.`,
    isOfMany: true,
    applicationIds: applications.filter((one) => one.workspaceId === workspaceId).map(({ id }) => id),
    events: `/api/workspace/activity/events?${new URLSearchParams({ workspaceId })}`,
    list: (query) => ask(api.GET('/api/workspace/activity/list', { params: { query: { ...query, workspaceId } } })),
    one: (activityId) =>
      ask(
        api.GET('/api/workspace/activity/{activityId}', { params: { path: { activityId }, query: { workspaceId } } }),
      ),
    address: (...rest) => addresses.workspace(workspaceId, 'activity', ...rest),
  };
}
