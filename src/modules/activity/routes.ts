/** An application's activity, for management. */
import { type Operation, operation } from '../../http/operation.ts';
import { ActivityPage, ActivityQuery } from './model.ts';
import type { Activity } from './service.ts';

export function activityRoutes(activity: Activity): Operation[] {
  return [
    operation({
      id: 'listActivity',
      method: 'GET',
      path: '/api/applications/:id/activity/list',
      summary: 'List what happened in an application, newest first',
      description: 'With `q` a page may hold fewer than asked for and still have a next one.',
      tag: 'Activity',
      access: 'read',
      scope: 'application',
      limit: 'key',
      query: ActivityQuery,
      data: ActivityPage,
      errors: ['invalid_cursor'],
      handle: ({ application, query }) => activity.list(application, query),
    }),
  ];
}
