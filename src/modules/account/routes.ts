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
      summary: 'Read my account',
      data: Account,
      handle: ({ principal }) => overview.get(principal),
    }),
    operation({
      ...common,
      id: 'requestProof',
      method: 'POST',
      path: '/api/account/proof',
      summary: 'Mail a code to re-authenticate this session',
      description:
        'Sensitive changes (sign-in methods, deletion, export) need a sign-in or such a proof within the last ten minutes. A change of the address, and changes that also affect applications of other workspaces, always need the proof. Set `purpose` for a code that is valid for one purpose only.',
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
      summary: 'Confirm the code; the proof is valid for ten minutes, for its purpose',
      description:
        'If the address was never proved before, this proves it: everything that rested on a provider’s word ends, except this session.',
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
      summary: 'List my open sessions: the calling one, then the others, newest first',
      description: 'Sessions in applications of the session’s workspace; from the console, all.',
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
      summary: 'Sign out everywhere else: end all other sessions and disconnect all devices',
      description:
        'Within the session’s workspace; from the console, everywhere. A device that was approved but has not fetched its key yet gets none.',
      query: SignOutQuery,
      data: SignedOutElsewhere,
      handle: ({ actor, principal, query }) => ownSessions.signOutElsewhere(actor, principal, query.devices ?? true),
    }),
    operation({
      ...common,
      id: 'revokeMySession',
      method: 'DELETE',
      path: '/api/account/sessions/:sessionId',
      summary: 'End one of my sessions',
      data: OwnSessionsRevoked,
      errors: ['not_found'],
      handle: ({ actor, principal, params }) => ownSessions.revoke(actor, principal, params.sessionId),
    }),
    operation({
      ...common,
      id: 'requestEmailChange',
      method: 'POST',
      path: '/api/account/email',
      summary: 'Mail a code to my new e-mail address',
      description:
        'Needs a proof of the last ten minutes, even right after signing in: `POST /api/account/proof` with the purpose `email_change` and the new address as `target`. The answer is the same for an address that somebody else uses; then no code is sent.',
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
      summary: 'Confirm the new e-mail address with its code',
      description:
        'All other sessions and connected devices end, and the proof is used up. The old address can no longer sign in or register; it is mailed a link that undoes the change for seven days. Allowlist entries of this workspace move to the new address at once, those of other workspaces with the first code confirmed there.',
      body: CodeGiven,
      data: EmailChanged,
      errors: [...CODE_ERRORS, 'conflict', 'reauthentication_required'],
      handle: ({ actor, principal, body }) => emailChanges.confirm(actor, principal, body),
    }),
    membership(
      'inactivate',
      'Deactivate my membership of an application',
      'Ends its sessions. Signing in again reactivates it, as does a call from another application’s session.',
    ),
    membership(
      'reactivate',
      'Reactivate my membership of an application',
      'Call it from a session of another application: a deactivated membership has no session of its own.',
    ),
    membership('leave', 'Leave an application', 'Ends its sessions and connected devices. Signing in again rejoins.'),
    operation({
      ...common,
      id: 'exportAccount',
      method: 'GET',
      path: '/api/account/export',
      summary: 'Export everything stored about me',
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
      summary: 'Mail a code for deleting my account; answers what is deleted and what is kept',
      description:
        'Needs a fresh session. The only owner of a workspace must make another owner first. Refused with 409 for seven days after a change of the address, while that can be undone.',
      data: DeletionAsked,
      errors: ['reauthentication_required', 'invalid_state'],
      handle: ({ actor, principal }) => deletions.ask(actor, principal),
    }),
    operation({
      ...common,
      id: 'deleteAccount',
      method: 'DELETE',
      path: '/api/account',
      summary: 'Delete my account, with the mailed code',
      description:
        'Permanent: nobody can sign in or register with its addresses again. The code comes from `POST /api/account/deletion`.',
      body: DeletionInput,
      isBodyOptional: true,
      data: AccountDeleted,
      errors: [...CODE_ERRORS, 'invalid_state'],
      handle: ({ actor, principal, body }) => deletions.confirm(actor, principal, body),
    }),
  ];
}
