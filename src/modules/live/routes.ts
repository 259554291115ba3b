/** Live updates of the caller's own session, as server-sent events. */
import { eventStreamResponse } from '../../http/event-stream.ts';
import { type Operation, operation } from '../../http/operation.ts';
import type { Hub } from './hub.ts';

export interface LiveRouteDependencies {
  readonly hub: Hub;
  /** Lets a connection stay open without traffic from the client. */
  readonly keepOpen: (request: Request) => void;
}

export function liveRoutes({ hub, keepOpen }: LiveRouteDependencies): Operation[] {
  return [
    operation({
      id: 'streamSession',
      method: 'GET',
      path: '/api/v1/session/events',
      summary: 'Follow the caller’s session as server-sent events',
      description:
        'First `session` with the whole envelope, then `roles`, `scopes`, `memberships` and `profile` as they change, and `revoked` with a reason at the end. A comment line every 15 seconds keeps the connection alive.',
      tag: 'Verification',
      access: 'token',
      scope: 'instance',
      limit: 'session',
      style: 'session',
      mediaType: 'text/event-stream',
      errors: ['unavailable'],
      async handle({ principal, context }) {
        const stream = await hub.open(principal);
        keepOpen(context.request);
        return eventStreamResponse(context, stream);
      },
    }),
  ];
}
