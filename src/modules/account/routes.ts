/** Routes for the signed-in person's account as a whole; routes for its parts are in their own modules. */
import { PageQuery } from '../../http/schemas.ts';
import { type Operation, operation } from '../../http/operation.ts';
import { SIGN_IN_REFUSALS } from '../sign-in/complete.ts';
import type { Deletions } from './deletion.ts';
import type { EmailChanges } from './email.ts';
import type { Exports } from './export.ts';
import type { MembershipAction, OwnMemberships } from './membership.ts';
import {
  Account,
  AccountDeleted,
  AccountExport,
  CodeAsked,
  CodeGiven,
  DeletionAsked,
  DeletionInput,
  EmailChanged,
  EmailChangeInput,
  MembershipInput,
  MembershipState,
  OwnSessionPage,
  ProofInput,
  Proved,
  OwnSessionsRevoked,
  SignedOutElsewhere,
  SignOutQuery,
} from './model.ts';
import type { Overview } from './overview.ts';
import type { Proofs } from './proof.ts';
import type { OwnSessions } from './sessions.ts';

const common = { tag: 'Account', access: 'session', scope: 'instance', limit: 'session' } as const;

const CODE_ERRORS = ['code_invalid', 'code_expired', 'code_exhausted', 'code_consumed'] as const;

export interface AccountRouteDependencies {
  readonly overview: Overview;
  readonly proofs: Proofs;
  readonly ownSessions: OwnSessions;
  readonly emailChanges: EmailChanges;
  readonly ownMemberships: OwnMemberships;
  readonly exports: Exports;
  readonly deletions: Deletions;
}

export function accountRoutes(dependencies: AccountRouteDependencies): Operation[] {
  const { overview, proofs, ownSessions, emailChanges, ownMemberships, exports, deletions } = dependencies;

  const membership = (action: MembershipAction, summary: string, description: string): Operation =>
    operation({
      ...common,
      id: `${action}Membership`,
      method: 'POST',
      path: `/api/account/${action}`,
      summary,
      description,
      body: MembershipInput,
      isBodyOptional: true,
      data: MembershipState,
      errors: ['not_found', 'invalid_state', ...(action === 'reactivate' ? SIGN_IN_REFUSALS : [])],
      handle: ({ actor, principal, body }) => ownMemberships.act(actor, principal, action, body.applicationId),
    });

  return [
    operation({
      ...common,
      id: 'getAccount',
      method: 'GET',
      path: '/api/account',
      summary: 'My account at a glance',
      data: Account,
      handle: ({ principal }) => overview.get(principal),
    }),
    operation({
      ...common,
      id: 'requestProof',
      method: 'POST',
      path: '/api/account/proof',
      summary: 'Mail a code with which this session proves again who holds it',
      description:
        'Sensitive changes (ways in, deletion, export) need a sign-in of the last ten minutes or such a proof; a change of the address, and what concerns applications of other workspaces too, need such a proof in any case. Ask with a `purpose` for a code that is good for one thing alone.',
      body: ProofInput,
      isBodyOptional: true,
      data: CodeAsked,
      handle: ({ actor, principal, body }) => proofs.ask(actor, principal, body),
    }),
    operation({
      ...common,
      id: 'confirmProof',
      method: 'POST',
      path: '/api/account/proof/confirm',
      summary: 'Give the code; for ten minutes it counts for what it was asked for',
      description:
        'Where nobody has proved the address before, it proves it: whatever stood on the word of a provider ends, but this session.',
      body: CodeGiven,
      data: Proved,
      errors: CODE_ERRORS,
      handle: ({ actor, principal, body }) => proofs.confirm(actor, principal, body),
    }),
    operation({
      ...common,
      id: 'listMySessions',
      method: 'GET',
      path: '/api/account/sessions',
      summary: 'One’s open sessions, newest first',
      description: 'Those in applications of the session’s workspace; from the console all.',
      query: PageQuery,
      data: OwnSessionPage,
      errors: ['invalid_cursor'],
      handle: ({ principal, query }) => ownSessions.list(principal, query),
    }),
    operation({
      ...common,
      id: 'revokeMyOtherSessions',
      method: 'DELETE',
      path: '/api/account/sessions',
      summary: 'Sign out everywhere else: end all sessions but this one, and disconnect all devices',
      description:
        'Within the session’s workspace; from the console everywhere. A device that was approved and has not fetched its key gets none.',
      query: SignOutQuery,
      data: SignedOutElsewhere,
      handle: ({ actor, principal, query }) => ownSessions.signOutElsewhere(actor, principal, query.devices ?? true),
    }),
    operation({
      ...common,
      id: 'revokeMySession',
      method: 'DELETE',
      path: '/api/account/sessions/:sessionId',
      summary: 'End one of one’s sessions',
      data: OwnSessionsRevoked,
      errors: ['not_found'],
      handle: ({ actor, principal, params }) => ownSessions.revoke(actor, principal, params.sessionId),
    }),
    operation({
      ...common,
      id: 'requestEmailChange',
      method: 'POST',
      path: '/api/account/email',
      summary: 'Mail a code to the address that is to be the new one',
      description:
        'Needs a proof of the last ten minutes, however fresh the sign-in: `POST /api/account/proof` with the purpose `email_change` and the new address as `target`. The answer is the same for an address that somebody else uses; then no code is sent.',
      body: EmailChangeInput,
      data: CodeAsked,
      errors: ['reauthentication_required'],
      handle: ({ actor, principal, body }) => emailChanges.ask(actor, principal, body.email),
    }),
    operation({
      ...common,
      id: 'confirmEmailChange',
      method: 'POST',
      path: '/api/account/email/confirm',
      summary: 'Give the code from the new address, which becomes the account’s',
      description:
        'All other sessions and connected devices end, and the proof is used up. The old address can sign in no more, and never founds another account; it is mailed a link that undoes the change for seven days. Entries on allowlists of this workspace follow at once, those of others with the first code that the new address gives there.',
      body: CodeGiven,
      data: EmailChanged,
      errors: [...CODE_ERRORS, 'conflict', 'reauthentication_required'],
      handle: ({ actor, principal, body }) => emailChanges.confirm(actor, principal, body),
    }),
    membership(
      'inactivate',
      'Put one’s membership of an application to rest',
      'Ends its sessions. It comes back by signing in again, or from another application’s session.',
    ),
    membership(
      'reactivate',
      'Take a resting membership up again',
      'From a session of another application, since a resting membership has none of its own.',
    ),
    membership(
      'leave',
      'Leave an application',
      'Ends its sessions and connected devices. Signing in again comes back.',
    ),
    operation({
      ...common,
      id: 'exportAccount',
      method: 'GET',
      path: '/api/account/export',
      summary: 'Everything held about oneself',
      description: 'Needs a fresh session.',
      limit: 'export',
      data: AccountExport,
      errors: ['reauthentication_required'],
      async handle({ actor, principal, context }) {
        const headers = {
          ...context.headers,
          'Content-Type': 'application/json; charset=utf-8',
          'Content-Disposition': 'attachment; filename="account.json"',
        };
        return new Response(await exports.everything(actor, principal), { headers });
      },
    }),
    operation({
      ...common,
      id: 'requestAccountDeletion',
      method: 'POST',
      path: '/api/account/deletion',
      summary: 'Mail a code for deleting the account, and say what is deleted and what is kept',
      description:
        'Needs a fresh session. The only owner of a workspace has to make another one first; for seven days after a change of the address, while it can be undone, it is refused with 409.',
      data: DeletionAsked,
      errors: ['reauthentication_required', 'invalid_state'],
      handle: ({ actor, principal }) => deletions.ask(actor, principal),
    }),
    operation({
      ...common,
      id: 'deleteAccount',
      method: 'DELETE',
      path: '/api/account',
      summary: 'Delete the account, with the code',
      description:
        'For good: nobody can sign in or register with its addresses again. The code comes from `POST /api/account/deletion`.',
      body: DeletionInput,
      isBodyOptional: true,
      data: AccountDeleted,
      errors: [...CODE_ERRORS, 'invalid_state'],
      handle: ({ actor, principal, body }) => deletions.confirm(actor, principal, body),
    }),
  ];
}
