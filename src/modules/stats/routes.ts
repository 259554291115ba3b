/** The route that reads an application's statistics. */
import { type Operation, operation } from '../../http/operation.ts';
import { Stats, StatsQuery } from './model.ts';
import type { Statistics } from './service.ts';

export function statsRoutes(stats: Statistics): Operation[] {
  return [
    operation({
      id: 'getStats',
      method: 'GET',
      path: '/api/applications/:id/stats',
      summary: 'Count what happened in an application, by day',
      description:
        'Days are UTC. A user is new on their first day, and active on each day they sign in or use their session. Counts follow within seconds, session use within a minute; a crash loses counts not written yet. Refused sign-ins are wrong codes, and people who proved who they are and may not come in. Limits are those on keys, sessions, people and codes of the application, not those on client addresses. Kept for 750 days.',
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
