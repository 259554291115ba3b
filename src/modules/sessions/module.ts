/** Sessions: sign-out, ending in bulk, and reporting expiry. */
import { sessionExpiryJob } from '../../jobs/session-expiry.ts';
import type { Module, ModuleContext } from '../module.ts';
import { sessionEndings } from './end.ts';
import { sessionRoutes } from './routes.ts';
import { type Sessions, sessionService } from './service.ts';

export function sessionsModule(context: ModuleContext): Module & { readonly service: Sessions } {
  const service = sessionService(context);
  return { service, operations: sessionRoutes(service), jobs: [sessionExpiryJob(context)], tasks: [sessionEndings] };
}
