/** What a signed-in person may ask and change about their own account; passkeys, providers and devices have their own. */
import { type Operation, operation } from '../../http/operation.ts';
import { CodeAsked, CodeGiven, Proved } from './model.ts';
import type { Proofs } from './proof.ts';

const common = { tag: 'Account', access: 'session', scope: 'instance', limit: 'session' } as const;

export function accountRoutes({ proofs }: { proofs: Proofs }): Operation[] {
  return [
    operation({
      ...common,
      id: 'requestProof',
      method: 'POST',
      path: '/api/account/proof',
      summary: 'Mail a code with which this session proves again who holds it',
      description:
        'Sensitive changes (passkeys, e-mail address, deletion) need a sign-in of the last ten minutes or such a proof.',
      data: CodeAsked,
      handle: ({ actor, principal }) => proofs.ask(actor, principal),
    }),
    operation({
      ...common,
      id: 'confirmProof',
      method: 'POST',
      path: '/api/account/proof/confirm',
      summary: 'Give the code; the session counts as fresh for ten minutes',
      body: CodeGiven,
      data: Proved,
      errors: ['code_invalid', 'code_expired', 'code_exhausted', 'code_consumed'],
      handle: ({ actor, principal, body }) => proofs.confirm(actor, principal, body),
    }),
  ];
}
