import { type Operation, operation } from '../../http/operation.ts';
import { Stats, StatsQuery } from './model.ts';
import type { Statistics } from './service.ts';

export function statsRoutes(stats: Statistics): Operation[] {
  return [
    operation({
      id: 'getStats',
      method: 'GET',
      path: '/api/applications/:id/stats',
      summary: 'Read daily statistics of an application',
      description:
        'Days are UTC. A user is new on their first day, and active on every day with a sign-in or a use of their session. Counts appear within seconds, the use of a session within a minute; a crash loses counts not written yet. Refused sign-ins are wrong codes, and people who proved their identity but are not admitted. Limits are those on keys, sessions, people and codes of the application, not those on client addresses. Kept for 750 days.',
      tag: 'Activity',
      access: 'read',
      scope: 'application',
      limit: 'key',
      query: StatsQuery,
      data: Stats,
      handle: ({ application, query }) => stats.read(application, query),
    }),
  ];
}
