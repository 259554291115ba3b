/** Sessions: sign-out, ending in bulk, and reporting expiry. */
import { sessionExpiryJob } from '../../jobs/session-expiry.ts';
import type { Module, World } from '../module.ts';
import { sessionEndings } from './end.ts';
import { sessionRoutes } from './routes.ts';
import { type Sessions, sessionService } from './service.ts';

export function sessionsModule(world: World): Module & { readonly service: Sessions } {
  const service = sessionService(world);
  return { service, operations: sessionRoutes(service), jobs: [sessionExpiryJob(world)], tasks: [sessionEndings] };
}
