/** An application's statistics, for management. */
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
        'Days are those of UTC. A user counts as new on the day they come for the first time, and as active on each day on which they sign in or their session is used. What happens is counted within seconds, the use of a session within a minute; a server that crashes forgets what it had not written down yet. Refused sign-ins are counted where somebody proved who they are and may not come in, or gave a wrong code. Limits are those on keys, sessions and people of the application and on its codes; calls refused by their client address alone belong to no application. Counts are kept for 750 days.',
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
