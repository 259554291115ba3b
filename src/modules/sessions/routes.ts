import { type Operation, operation } from '../../http/operation.ts';
import { SignedOut } from './model.ts';
import type { Sessions } from './service.ts';

export function sessionRoutes(sessions: Sessions): Operation[] {
  return [
    operation({
      id: 'signOut',
      method: 'DELETE',
      path: '/api/v1/session',
      summary: 'Sign out: end the session of the bearer token',
      tag: 'Verification',
      access: 'token',
      scope: 'instance',
      limit: 'session',
      style: 'session',
      data: SignedOut,
      async handle({ principal, actor }) {
        await sessions.signOut(principal, actor);
        return { ok: true };
      },
    }),
  ];
}
