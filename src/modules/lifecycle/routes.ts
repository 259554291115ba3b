import { type Operation, operation } from '../../http/operation.ts';
import { Input } from '../../http/schemas.ts';
import { ApplicationSchema } from '../applications/model.ts';
import { LifecycleConfirmInput, LifecycleSendInput, LifecycleSent } from './model.ts';
import type { Lifecycle } from './service.ts';

export function lifecycleRoutes(lifecycle: Lifecycle): Operation[] {
  const common = { tag: 'Lifecycle', method: 'POST', access: 'full', scope: 'application', limit: 'key' } as const;
  return [
    operation({
      ...common,
      id: 'sendLifecycleCode',
      path: '/api/applications/:id/lifecycle/send',
      summary: 'Mail a code for archiving, deleting or hiding an application',
      description:
        'Sent to the acting member, or for a key to the owners. Nothing changes yet. A deleted application is hidden from lists after 90 days, a hidden one at once; both keep their data and can be restored.',
      body: LifecycleSendInput,
      data: LifecycleSent,
      errors: ['invalid_state'],
      handle: ({ actor, principal, application, body }) => lifecycle.send(actor, principal, application, body),
    }),
    operation({
      ...common,
      id: 'confirmLifecycle',
      path: '/api/applications/:id/lifecycle/confirm',
      summary: 'Confirm with the code; the change happens once',
      danger: 'The application is archived, deleted or hidden: its people can no longer sign in.',
      body: LifecycleConfirmInput,
      data: ApplicationSchema,
      errors: ['code_invalid', 'code_expired', 'code_exhausted', 'code_consumed', 'invalid_state'],
      handle: ({ actor, application, body }) => lifecycle.confirm(actor, application, body),
    }),
    operation({
      ...common,
      id: 'unarchiveApplication',
      path: '/api/applications/:id/unarchive',
      summary: 'Unarchive an application',
      gives: { words: 'Its people can sign in again.' },
      body: Input({}),
      isBodyOptional: true,
      data: ApplicationSchema,
      errors: ['invalid_state'],
      handle: ({ actor, application }) => lifecycle.unarchive(actor, application),
    }),
    operation({
      ...common,
      id: 'restoreApplication',
      path: '/api/applications/:id/restore',
      summary: 'Restore a deleted application',
      gives: { words: 'Its people can sign in again.' },
      description:
        'Possible at any time, also once it is hidden: an application is never removed. It returns to service even if it was archived before.',
      body: Input({}),
      isBodyOptional: true,
      data: ApplicationSchema,
      errors: ['invalid_state'],
      handle: ({ actor, application }) => lifecycle.restore(actor, application),
    }),
  ];
}
