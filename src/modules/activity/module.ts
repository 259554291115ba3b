/** What happened in an application, to be read. */
import type { Module, World } from '../module.ts';
import { activityRoutes } from './routes.ts';
import { activityService } from './service.ts';

export function activityModule({ db }: World): Module {
  return { operations: activityRoutes(activityService(db)) };
}
