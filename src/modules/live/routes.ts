/** Live updates of the caller's own session or key, as server-sent events. */
import { required } from '../../core/required.ts';
import { bearerToken } from '../../http/authenticate.ts';
import { type Operation, operation } from '../../http/operation.ts';
import type { Verification } from '../verification/service.ts';
import type { Hub } from './hub.ts';

export interface LiveRouteDependencies {
  readonly hub: Hub;
  readonly verification: Pick<Verification, 'followedBy'>;
}

export function liveRoutes({ hub, verification }: LiveRouteDependencies): Operation[] {
  return [
    operation({
      id: 'streamSession',
      method: 'GET',
      path: '/api/v1/session/events',
      summary: 'Stream the caller’s session or key as server-sent events',
      description:
        'First `session` with the whole envelope, then `roles`, `scopes`, `memberships` and `profile` as they change, and `revoked` with a reason at the end. A key is followed as its principal, a personal key as its person, with the envelope that a verification shows; most keys of a workspace stand in the console. Its stream ends with `key_ended`: at once where the key is revoked or rotated, within 15 seconds where it ends by time or by what it rests on. A comment line every 15 seconds keeps the connection alive.',
      tag: 'Verification',
      access: 'holder',
      scope: 'instance',
      limit: 'session',
      style: 'session',
      mediaType: 'text/event-stream',
      errors: ['unavailable'],
      async handle({ principal, context }) {
        const token = required(bearerToken(context.request), 'token of the caller');
        return hub.open(await verification.followedBy(principal, token));
      },
    }),
  ];
}
