import { type Operation, operation } from '../../http/operation.ts';
import type { SessionCookie } from '../../http/session-cookie.ts';
import { SetupDone, SetupInput } from './model.ts';
import type { Setup } from './service.ts';

export function setupRoutes({ setup, cookie }: { setup: Setup; cookie: SessionCookie }): Operation[] {
  return [
    operation({
      id: 'completeSetup',
      method: 'POST',
      path: '/api/setup',
      summary: 'Create the first owner, or restore an owner’s access, with a one-time setup link',
      tag: 'Setup',
      access: 'none',
      scope: 'instance',
      limit: 'setup',
      body: SetupInput,
      data: SetupDone,
      errors: ['not_found', 'user_deleted', 'email_archived', 'membership_blocked'],
      async handle({ actor, body, context }) {
        const done = await setup.complete(actor, body, context.request.headers);
        context.cookies.push(cookie.write(done.token, Date.parse(done.expiresAt)));
        return done;
      },
    }),
  ];
}
